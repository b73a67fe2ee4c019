import { once } from 'node:events'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import WebSocket from 'ws'
import { type HttpResponse, type Incoming, startServer } from '../../../../api/http/server.ts'
import { type Boundary, faultCounts, reportFaultsTo } from '../../../../runtime/lib/async/faults.ts'
import { PatchbayError } from '../../../../runtime/lib/errors.ts'
import type { Socket, WebSocketRoute } from '../../../../runtime/process/web-socket.ts'
import { openRaw } from '../../../support/world/raw-http.ts'

type Handle = (incoming: Incoming) => HttpResponse | Promise<HttpResponse>

async function serve(t: Test, handle: Handle, webSockets: WebSocketRoute[] = []) {
  const server = await startServer({
    host: '127.0.0.1',
    port: 0,
    handle: async (incoming) => incoming.send(await handle(incoming)),
    webSockets,
    refuse: (error) => text(error instanceof PatchbayError ? error.status : 500, String(error)),
    requestId: (header) => header,
  })
  t.teardown(() => server.close(0))
  return { server, url: `http://127.0.0.1:${server.port}` }
}

function text(status: number, body: HttpResponse['body']): HttpResponse {
  return { status, headers: [['content-type', 'text/plain']], ...(body === undefined ? {} : { body }) }
}

const MEGABYTE = 1024 * 1024

t.test('a request has its method, path, query, headers and body', async (t) => {
  const { url } = await serve(t, async (incoming) => {
    const header = incoming.header('x-test')
    const body = await incoming.body.bytes(100)
    return text(201, [incoming.method, incoming.path, incoming.query, header, body.toString()].join(' '))
  })
  const answer = await fetch(`${url}/a/b?c=d%20e`, { method: 'POST', body: 'body', headers: { 'x-test': 'yes' } })
  t.equal(answer.status, 201)
  t.equal(await answer.text(), 'POST /a/b c=d%20e yes body')
})

t.test('a body of many megabytes arrives whole while the reader is slow', async (t) => {
  let largest = 0
  const { url } = await serve(t, async (incoming) => {
    let bytes = 0
    for await (const chunk of incoming.body) {
      bytes += chunk.length
      largest = Math.max(largest, chunk.length)
      if (bytes % 7 === 0) await sleep(1)
    }
    return text(200, String(bytes))
  })
  const answer = await fetch(url, { method: 'POST', body: new Uint8Array(32 * MEGABYTE) })
  t.equal(await answer.text(), String(32 * MEGABYTE))
  t.ok(largest < 2 * MEGABYTE, 'it is read in parts')
})

t.test('a reader that stops holds the sender back', async (t) => {
  let resume = () => {}
  const stopped = new Promise<void>((resolve) => {
    resume = resolve
  })
  const { url } = await serve(t, async (incoming) => {
    let bytes = 0
    for await (const chunk of incoming.body) {
      if (bytes === 0) await stopped
      bytes += chunk.length
    }
    return text(200, String(bytes))
  })
  const raw = await openRaw(url)
  const size = 64 * MEGABYTE
  raw.write(`POST / HTTP/1.1\r\nhost: x\r\ncontent-length: ${size}\r\n\r\n`)
  raw.write(new Uint8Array(size))
  await sleep(300)
  t.ok(raw.socket.writableLength > size / 2, 'most of it is still at the sender')
  resume()
  const received = await raw.until((received) => received.includes(String(size)))
  t.match(received, /^HTTP\/1\.1 200 OK/)
  raw.socket.destroy()
})

t.test('a reader may stop for longer than a silent client may', async (t) => {
  const { url } = await serve(t, async (incoming) => {
    let bytes = 0
    for await (const chunk of incoming.body) {
      if (bytes === 0) await sleep(14_000)
      bytes += chunk.length
    }
    return text(200, String(bytes))
  })
  const answer = await fetch(url, { method: 'POST', body: new Uint8Array(16 * MEGABYTE) })
  t.equal(await answer.text(), String(16 * MEGABYTE))
})

t.test('a stream is sent at the pace of its reader, and ended when the reader goes', async (t) => {
  let made = 0
  let ended = false
  async function* endless() {
    try {
      for (;;) {
        made++
        yield Buffer.alloc(MEGABYTE)
      }
    } finally {
      ended = true
    }
  }
  const { url } = await serve(t, async () => text(200, endless()))
  const raw = await openRaw(url)
  raw.socket.pause()
  raw.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
  await sleep(300)
  const madeWhenFull = made
  t.ok(madeWhenFull < 64, `${madeWhenFull} chunks fill the buffers`)
  raw.socket.destroy()
  while (!ended) await sleep(20)
})

t.test('a stream that fails cuts the connection, so that nobody takes a part for the whole', async (t) => {
  const { url } = await serve(t, async () =>
    text(
      200,
      (async function* () {
        yield 'part'
        await sleep(10)
        throw new Error('broken')
      })(),
    ),
  )
  await t.rejects(fetch(url).then((answer) => answer.text()))
})

t.test('the signal aborts when the client goes away, and late answers do no harm', async (t) => {
  const arrived = Promise.withResolvers<void>()
  const aborted = Promise.withResolvers<void>()
  const { url } = await serve(t, async (incoming) => {
    if (incoming.path === '/ok') return text(200, 'ok')
    incoming.signal.addEventListener('abort', () => aborted.resolve())
    arrived.resolve()
    await aborted.promise
    return text(200, 'too late')
  })
  const stop = new AbortController()
  const request = fetch(url, { signal: stop.signal })
  await arrived.promise
  stop.abort()
  await t.rejects(request)
  await aborted.promise
  t.equal(await (await fetch(`${url}/ok`)).text(), 'ok')
})

t.test('a body whose client goes away or stalls is malformed', async (t) => {
  const faults: string[] = []
  const { url } = await serve(t, async (incoming) => {
    try {
      await incoming.body.bytes(1000)
      return text(200, 'whole')
    } catch (error) {
      faults.push((error as PatchbayError).code)
      return text(400, (error as Error).message)
    }
  })
  const gone = await openRaw(url)
  gone.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n12345')
  await sleep(50)
  gone.socket.destroy()
  const stalled = await openRaw(url)
  stalled.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n12345')
  t.match(await stalled.until((received) => received.includes('Malformed')), /^HTTP\/1\.1 400/)
  stalled.socket.destroy()
  t.same(faults, ['malformed_body', 'malformed_body'])
})

t.test('a client that never finishes its headers is disconnected', async (t) => {
  const { url } = await serve(t, async () => text(200, 'ok'))
  const raw = await openRaw(url)
  raw.write('GET / HTTP/1.1\r\nhost: x\r\nx-slow: ')
  const drip = setInterval(() => raw.write('a'), 500)
  t.teardown(() => clearInterval(drip))
  const received = await raw.closed()
  t.notMatch(received, /200 OK/)
})

t.test('HEAD answers like GET without the body', async (t) => {
  const { url } = await serve(t, async () => text(200, 'hello'))
  const answer = await fetch(url, { method: 'HEAD' })
  t.same([answer.status, answer.headers.get('content-length'), await answer.text()], [200, '5', ''])
})

t.test('closing lets requests finish, takes no new connection and ends idle ones', async (t) => {
  const arrived = Promise.withResolvers<void>()
  const mayFinish = Promise.withResolvers<void>()
  const { server, url } = await serve(t, async (incoming) => {
    if (incoming.path === '/slow') {
      arrived.resolve()
      await mayFinish.promise
    }
    return text(200, 'done')
  })
  const idle = await openRaw(url)
  idle.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
  await idle.until((received) => received.includes('done'))
  const slow = fetch(`${url}/slow`)
  await arrived.promise
  const closing = server.close(60_000)
  await t.rejects(openRaw(url), 'no new connection')
  mayFinish.resolve()
  const answer = await slow
  t.same([answer.status, await answer.text(), answer.headers.get('connection')], [200, 'done', 'close'])
  await closing
  await idle.closed()
})

t.test('a request that takes longer than the grace is cut off', async (t) => {
  const arrived = Promise.withResolvers<void>()
  let signal: AbortSignal | undefined
  const { server, url } = await serve(t, async (incoming) => {
    signal = incoming.signal
    arrived.resolve()
    await sleep(60_000, undefined, { signal, ref: false }).catch(() => {})
    return text(200, 'too late')
  })
  const slow = fetch(url)
  slow.catch(() => {})
  await arrived.promise
  await server.close(50)
  await t.rejects(slow)
  t.equal(signal?.aborted, true)
})

t.test('a port in use is said with its cure', async (t) => {
  const holder = createServer().listen(0, '127.0.0.1')
  await once(holder, 'listening')
  t.teardown(() => holder.close())
  const { port } = holder.address() as { port: number }
  const options = {
    host: '127.0.0.1',
    handle: (incoming: Incoming) => incoming.send(text(200, '')),
    webSockets: [],
    refuse: () => text(500, ''),
    requestId: () => '',
  }
  await t.rejects(startServer({ ...options, port }), {
    code: 'configuration',
    message: `Port ${port} is in use; set PORT to a free one or stop the program that listens on it.`,
  })
  const first = await startServer({ ...options, port: 0 })
  t.teardown(() => first.close(0))
  await t.rejects(startServer({ ...options, port: first.port }), { code: 'configuration' }, 'of our own kind too')
  await t.rejects(startServer({ ...options, host: '192.0.2.1', port: 0 }), { message: /no address of this machine/ })
})

t.test('a WebSocket is accepted, exchanges both kinds of message and closes with a code', async (t) => {
  const heard: unknown[] = []
  let closedWith: number | undefined
  const route: WebSocketRoute = {
    path: '/ws',
    maxPayloadBytes: 1000,
    maxBackpressureBytes: 1000,
    idleTimeoutS: 30,
    async upgrade(request) {
      await sleep(1)
      if (request.query.get('token') !== 'good') throw new PatchbayError('invalid_token')
      heard.push(request.header('x-test'), request.requestId, request.remoteAddress)
      return (socket: Socket) => ({
        message(data) {
          heard.push(typeof data === 'string' ? data : [...data])
          socket.send(typeof data === 'string' ? `${data}!` : data)
          if (data === 'bye') socket.close(4000, 'so long')
        },
        close: (code) => {
          closedWith = code
          socket.send('after the end')
          socket.close(1000, 'again')
          socket.terminate()
        },
      })
    },
  }
  const { url } = await serve(t, () => text(200, ''), [route])
  const address = `${url.replace('http', 'ws')}/ws`
  const refused = new WebSocket(`${address}?token=bad`)
  const [, response] = await once(refused, 'unexpected-response')
  t.equal(response.statusCode, 401)
  refused.on('error', () => {})
  refused.terminate()

  const client = new WebSocket(`${address}?token=good`, { headers: { 'x-test': 'yes', 'x-request-id': 'r1' } })
  const received: string[] = []
  client.on('message', (data, isBinary) => received.push(isBinary ? 'binary' : data.toString()))
  await once(client, 'open')
  client.send('hello')
  client.send(new Uint8Array([1, 2, 3]))
  client.send('bye')
  const [code, reason] = await once(client, 'close')
  t.same([code, reason.toString()], [4000, 'so long'])
  t.same(heard, ['yes', 'r1', '127.0.0.1', 'hello', [1, 2, 3], 'bye'])
  t.same(received, ['hello!', 'binary', 'bye!'])
  while (closedWith === undefined) await sleep(10)
  t.equal(closedWith, 4000)
})

t.test('a WebSocket message over the limit ends the connection, a slow reader loses messages', async (t) => {
  let socket: Socket | undefined
  const route: WebSocketRoute = {
    path: '/ws',
    maxPayloadBytes: 1000,
    maxBackpressureBytes: 64 * 1024,
    idleTimeoutS: 30,
    upgrade: async () => (opened) => {
      socket = opened
      return { message() {}, close() {} }
    },
  }
  const { url } = await serve(t, () => text(200, ''), [route])
  const address = `${url.replace('http', 'ws')}/ws`
  const loud = new WebSocket(address)
  await once(loud, 'open')
  loud.send(new Uint8Array(1001))
  await once(loud, 'close')

  const slow = new WebSocket(address)
  await once(slow, 'open')
  slow.pause()
  let dropped = 0
  for (let i = 0; i < 2000; i++) if (!socket?.send(new Uint8Array(16 * 1024))) dropped++
  t.ok(dropped > 0)
  t.ok((socket?.bufferedBytes() ?? 0) <= 80 * 1024)
  slow.terminate()
})

/** What is thrown at a boundary from now on, instead of standard error. */
function faultsOf(t: Test): { messages: string[]; counted(kind: Boundary): number } {
  const messages: string[] = []
  const before = new Map(faultCounts())
  t.teardown(reportFaultsTo((_kind, error) => messages.push(String((error as Error).message))))
  return { messages, counted: (kind) => (faultCounts().get(kind) ?? 0) - (before.get(kind) ?? 0) }
}

for (const isAsync of [false, true]) {
  t.test(`a handler of a WebSocket that ${isAsync ? 'rejects' : 'throws'} ends that socket with 1011`, async (t) => {
    const faults = faultsOf(t)
    const fail = (what: string): undefined => {
      const error = new Error(what)
      if (isAsync) return Promise.reject(error) as unknown as undefined
      throw error
    }
    const route: WebSocketRoute = {
      path: '/ws',
      maxPayloadBytes: 1000,
      maxBackpressureBytes: 32 * MEGABYTE,
      idleTimeoutS: 30,
      async upgrade({ query }) {
        const at = query.get('at')
        return (socket) => {
          if (at === 'open') fail(at)
          if (at === 'pong') socket.ping()
          if (at === 'drain') for (let i = 0; i < 16; i++) socket.send(new Uint8Array(MEGABYTE))
          return {
            message: (data) => (at === 'message' ? fail(at) : socket.send(data) && undefined),
            drain: () => (at === 'drain' ? fail(at) : undefined),
            pong: () => (at === 'pong' ? fail(at) : undefined),
            close: () => (at === 'close' ? fail(at) : undefined),
          }
        }
      },
    }
    const { url } = await serve(t, () => text(200, 'alive'), [route])
    const open = async (at: string) => {
      const socket = new WebSocket(`${url.replace('http', 'ws')}/ws?at=${at}`)
      await once(socket, 'open')
      return socket
    }
    const other = await open('none')
    const kinds = isAsync ? ['message', 'drain', 'pong', 'close'] : ['open', 'message', 'drain', 'pong', 'close']
    for (const [n, at] of kinds.entries()) {
      const socket = await open(at)
      const closed = once(socket, 'close')
      if (at === 'close') socket.close(1000)
      else socket.send('hello')
      const [code] = await closed
      t.equal(code, at === 'close' ? 1000 : 1011, at)
      while (faults.counted('websocket') <= n) await sleep(5)
      t.ok(faults.messages.includes(at), at)
    }
    other.send('still there')
    t.equal(String((await once(other, 'message'))[0]), 'still there')
    t.equal(await (await fetch(url)).text(), 'alive')
    other.terminate()
  })
}

t.test('an upgrade that throws where it is refused ends that connection', async (t) => {
  const faults = faultsOf(t)
  const server = await startServer({
    host: '127.0.0.1',
    port: 0,
    handle: (incoming) => incoming.send(text(200, 'alive')),
    webSockets: [
      {
        ...{ path: '/ws', maxPayloadBytes: 1000, maxBackpressureBytes: 1000, idleTimeoutS: 30 },
        upgrade: () => Promise.reject(new PatchbayError('invalid_token')),
      },
    ],
    refuse: () => {
      throw new Error('no answer')
    },
    requestId: (header) => header,
  })
  t.teardown(() => server.close(0))
  const client = new WebSocket(`ws://127.0.0.1:${server.port}/ws`)
  await once(client, 'error')
  t.same([faults.messages, faults.counted('websocket')], [['no answer'], 1])
  t.equal(await (await fetch(`http://127.0.0.1:${server.port}`)).text(), 'alive')
})

t.test('a handler of HTTP that throws ends that connection', async (t) => {
  const faults = faultsOf(t)
  const server = await startServer({
    host: '127.0.0.1',
    port: 0,
    handle: (incoming) => {
      if (incoming.path === '/now') throw new Error('now')
      if (incoming.path === '/body') {
        return incoming.body.text(100).then(() => {
          throw new Error('body')
        })
      }
      return incoming.send(text(200, 'alive'))
    },
    webSockets: [],
    refuse: () => text(500, ''),
    requestId: (header) => header,
  })
  t.teardown(() => server.close(0))
  const url = `http://127.0.0.1:${server.port}`
  await t.rejects(fetch(`${url}/now`))
  await t.rejects(fetch(`${url}/body`, { method: 'POST', body: 'x' }))
  t.same([faults.messages, faults.counted('http')], [['now', 'body'], 2])
  t.equal(await (await fetch(url)).text(), 'alive')
})

t.test('what would make a body that nobody reads is ended', async (t) => {
  const aborted: string[] = []
  const returned: string[] = []
  const left = Promise.withResolvers<void>()
  const { url } = await serve(t, async ({ path, signal }) => {
    signal.addEventListener('abort', () => {
      aborted.push(path)
      left.resolve()
    })
    if (path === '/late') await left.promise
    const next = async () => ({ done: false as const, value: 'never' })
    const end = async () => {
      returned.push(path)
      return { done: true as const, value: undefined }
    }
    return text(200, { [Symbol.asyncIterator]: () => ({ next, return: end }) })
  })
  const answer = await fetch(`${url}/head`, { method: 'HEAD' })
  t.same([answer.status, aborted, returned], [200, ['/head'], ['/head']])
  const raw = await openRaw(url)
  raw.write('GET /late HTTP/1.1\r\nhost: x\r\n\r\n')
  await sleep(50)
  raw.socket.destroy()
  while (returned.length < 2) await sleep(5)
  t.same(
    [aborted, returned],
    [
      ['/head', '/late'],
      ['/head', '/late'],
    ],
  )
})

t.test('an ambiguous request is refused and the connection closed: what it hides is never answered', async (t) => {
  const handled: string[] = []
  const { url } = await serve(t, (incoming) => {
    handled.push(incoming.path)
    return text(incoming.isAmbiguous ? 400 : 200, incoming.path)
  })
  const hidden = 'GET /hidden HTTP/1.1\r\nhost: x\r\n\r\n'
  const post = (...headers: string[]) => ['POST /first HTTP/1.1', 'host: x', ...headers, '', ''].join('\r\n')
  const cases: Record<string, string> = {
    'two lengths, the shorter first': `${post('content-length: 2', 'content-length: 39')}{}`,
    'two lengths, the longer first': `${post('content-length: 39', 'content-length: 2')}{}`,
    'twice the same length': `${post('content-length: 2', 'content-length: 2')}{}`,
    'two lengths of a GET': 'GET /first HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\ncontent-length: 37\r\n\r\n',
    'two lengths of a HEAD': 'HEAD /first HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\ncontent-length: 37\r\n\r\n',
    'a list of lengths': `${post('content-length: 2, 2')}{}`,
    'chunked and a length': `${post('transfer-encoding: chunked', 'content-length: 5')}0\r\n\r\n`,
    'a length and chunked': `${post('content-length: 5', 'transfer-encoding: chunked')}0\r\n\r\n`,
    'chunked twice': `${post('transfer-encoding: chunked', 'transfer-encoding: chunked')}0\r\n\r\n`,
    'an encoding that is not chunked': `${post('transfer-encoding: gzip')}0\r\n\r\n`,
    'chunked and then another': `${post('transfer-encoding: chunked, identity')}0\r\n\r\n`,
  }
  for (const [name, first] of Object.entries(cases)) {
    for (const isSplit of [false, true]) {
      handled.length = 0
      const raw = await openRaw(url)
      if (isSplit) {
        raw.write(first)
        await sleep(30)
        raw.write(hidden)
      } else raw.write(first + hidden)
      const received = await raw.closed()
      const answers = received.match(/HTTP\/1\.1 \d+/g) ?? []
      const expected = first.startsWith('HEAD') ? [] : ['HTTP/1.1 400']
      t.same([answers, handled.includes('/hidden')], [expected, false], `${name}${isSplit ? ', in two parts' : ''}`)
    }
  }
})

t.test('headers can be read before the first await only', async (t) => {
  const late: unknown[] = []
  const { url } = await serve(t, async (incoming: Incoming) => {
    await sleep(1)
    try {
      incoming.header('host')
    } catch (error) {
      late.push(error)
    }
    return text(200, '')
  })
  await fetch(url)
  t.match(late, [/before|after the first await/])
})

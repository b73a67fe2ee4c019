import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { type Test, test } from 'tap'
import { parseInfrastructureRule } from '../../../../runtime/plugin/grants/net-rule.ts'
import { connectionsTo, ForbiddenAddress, KeptConnections } from '../../../../runtime/tools/connections.ts'
import { openResponse, sendRequest } from '../../../../runtime/tools/http-request.ts'
import { waitUntil } from '../../../support/world/wait-until.ts'

const allowed = [parseInfrastructureRule('127.0.0.1')]
const signal = new AbortController().signal
const outgoing = (port: number) => ({ method: 'POST', url: `http://127.0.0.1:${port}/a?b`, headers: {}, body: 'x' })

test('an address that is written out is judged before anything is dialled', async (t) => {
  for (const origin of [
    'http://127.0.0.1',
    'http://10.0.0.5:8080',
    'https://[::1]',
    'http://[::ffff:169.254.169.254]',
  ]) {
    t.throws(() => connectionsTo(new URL(origin), []), ForbiddenAddress, origin)
  }
  const granted = connectionsTo(new URL('http://127.0.0.1:8080'), allowed)
  await granted.close()
})

test('a connection is kept for the next request to its origin, and forgotten with its origin once it is closed', async (t) => {
  const sockets = new Set<Socket>()
  const server = createServer((request, response) => {
    sockets.add(request.socket)
    request.resume().on('end', () => response.end(request.url))
  })
  const { port } = await listening(t, server)
  const over = new KeptConnections({ allowed, idleMs: 60_000 })
  t.teardown(() => over.close())
  for (let i = 0; i < 3; i++) {
    t.equal((await sendRequest(outgoing(port), { over, signal })).text, '/a?b')
    // It is free again once its answer was told.
    await turn()
  }
  t.equal(sockets.size, 1)
  const kept = over.to(new URL(`http://127.0.0.1:${port}`))
  t.equal(over.to(new URL(`http://127.0.0.1:${port}/elsewhere`)), kept)
  server.closeAllConnections()
  await waitUntil(() => over.to(new URL(`http://127.0.0.1:${port}`)) !== kept)
})

test('a request is sent again where its kept connection was closed as it came, and never where a fresh one was', async (t) => {
  let requests = 0
  // Answers the first request of each connection and closes at the second.
  const server = createTcpServer((socket) => {
    let isSecond = false
    socket.on('error', () => undefined)
    socket.on('data', () => {
      requests++
      if (isSecond || requests > 3) socket.destroy()
      else socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')
      isSecond = true
    })
  })
  const { port } = await listening(t, server)
  const over = new KeptConnections({ allowed, idleMs: 60_000 })
  t.teardown(() => over.close())
  t.equal((await sendRequest(outgoing(port), { over, signal })).text, 'ok')
  await turn()
  t.equal((await sendRequest(outgoing(port), { over, signal })).text, 'ok')
  await turn()
  t.equal(requests, 3, 'on the kept one, and again on one of its own')
  await t.rejects(sendRequest(outgoing(port), { over, signal }), { code: 'ECONNRESET' })
  t.equal(requests, 4)
  await t.rejects(sendRequest(outgoing(port), { over: { allowed }, signal }), { code: 'ECONNRESET' })
  t.equal(requests, 5)
})

test('an answer is read no faster than its reader takes it, and no further than it is wanted', async (t) => {
  const CHUNK = Buffer.alloc(256 * 1024, 'x')
  const MANY = 400
  let written = 0
  const closed = Promise.withResolvers<void>()
  const server = createServer(async (request, response) => {
    request.resume()
    response.on('close', () => closed.resolve())
    for (; written < MANY && !response.destroyed; written++) {
      if (!response.write(CHUNK)) await Promise.race([once(response, 'drain'), closed.promise])
    }
    response.end()
  })
  const { port } = await listening(t, server)
  const over = new KeptConnections({ allowed, idleMs: 60_000 })
  t.teardown(() => over.close())
  const { status, body, close } = await openResponse(outgoing(port), { over, signal })
  t.equal(status, 200)
  t.ok((await body[Symbol.asyncIterator]().next()).value)
  let before = -1
  await waitUntil(() => {
    const still = written === before
    before = written
    return still
  })
  t.ok(written < MANY, `the server waits after ${written} of ${MANY}`)
  close()
  await closed.promise
  t.ok(written < MANY)
})

test('a request ends with its signal, before its connection and after', async (t) => {
  const server = createServer((request) => void request.resume())
  const { port } = await listening(t, server)
  const over = new KeptConnections({ allowed, idleMs: 60_000 })
  t.teardown(() => over.close())
  const reason = new Error('enough')
  for (const one of [over, { allowed }]) {
    await t.rejects(sendRequest(outgoing(port), { over: one, signal: AbortSignal.abort(reason) }), reason)
    const early = new AbortController()
    const unheard = sendRequest(outgoing(port), { over: one, signal: early.signal })
    early.abort(reason)
    await t.rejects(unheard, reason)
    const late = new AbortController()
    const asked = once(server, 'request')
    const unanswered = sendRequest(outgoing(port), { over: one, signal: late.signal })
    const [{ socket }] = (await asked) as [{ socket: Socket }]
    const ended = once(socket, 'close')
    late.abort(reason)
    await t.rejects(unanswered, reason)
    await ended
  }
})

async function listening(t: Test, server: Server | ReturnType<typeof createTcpServer>): Promise<AddressInfo> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    if ('closeAllConnections' in server) server.closeAllConnections()
  })
  return server.address() as AddressInfo
}

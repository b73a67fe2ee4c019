import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import t from 'tap'

const here = (path: string): string => JSON.stringify(new URL(path, import.meta.url).href)

/** The library writes its warnings past Node to the process's standard error. */
const PROGRAM = `
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import WebSocket from 'ws'
import { startServer } from ${here('../../../api/http/server.ts')}
import { openRaw } from ${here('../../support/world/raw-http.ts')}

async function* parts() {
  yield 'one '
  await sleep(1)
  yield 'two'
}
const answers = {
  '/now': () => 'now',
  '/later': () => sleep(1).then(() => 'later'),
  '/body': async (incoming) => String((await incoming.body.bytes(1e6)).length),
  '/stream': () => parts(),
  '/late-stream': () => sleep(1).then(parts),
  '/slow': () => sleep(50).then(() => 'too late'),
}
const server = await startServer({
  host: '127.0.0.1',
  port: 0,
  handle(incoming) {
    const body = answers[incoming.path](incoming)
    if (body instanceof Promise) body.then((late) => incoming.send({ status: 200, headers: [], body: late }))
    else incoming.send({ status: 200, headers: [['x-a', 'b']], body })
  },
  webSockets: [
    {
      path: '/ws',
      maxPayloadBytes: 1_000,
      maxBackpressureBytes: 1_000_000,
      idleTimeoutS: 30,
      async upgrade({ query }) {
        if (query.has('wait')) await sleep(Math.random() * 5)
        if (query.has('no')) throw new Error('no')
        return (socket) => {
          socket.send('welcome')
          return { message: (data) => void socket.send(data), close() {} }
        }
      },
    },
  ],
  refuse: () => ({ status: 401, headers: [], body: 'no' }),
  requestId: (header) => header,
})
const url = 'http://127.0.0.1:' + server.port
const seen = []
for (const path of ['/now', '/later', '/body', '/stream', '/late-stream']) {
  for (const method of path === '/body' ? ['POST'] : ['GET', 'HEAD', 'POST']) {
    const answer = await fetch(url + path, { method, ...(method === 'POST' && { body: 'x'.repeat(200_000) }) })
    seen.push((await answer.text()).length)
  }
}
const gone = await openRaw(url)
gone.write('GET /slow HTTP/1.1\\r\\nhost: x\\r\\n\\r\\n')
await sleep(10)
gone.socket.destroy()

const echo = async (query) => {
  const socket = new WebSocket(url.replace('http', 'ws') + '/ws' + query)
  const heard = []
  socket.on('message', (data) => heard.push(String(data)))
  await once(socket, 'open')
  for (let i = 0; i < 20; i++) {
    socket.send('m' + i)
    await once(socket, 'message')
  }
  while (heard.length < 21) await once(socket, 'message')
  return socket
}
const sockets = [await echo('')]
sockets.push(...(await Promise.all(Array.from({ length: 100 }, () => echo('?wait')))))
for (const query of ['?no', '?no&wait']) {
  const refused = new WebSocket(url.replace('http', 'ws') + '/ws' + query)
  refused.on('error', () => {})
  await once(refused, 'unexpected-response')
  refused.terminate()
}
console.log(JSON.stringify({ seen, open: sockets.filter((one) => one.readyState === WebSocket.OPEN).length }))
process.exit()
`

t.test('no answer of any kind is written past the library’s cork', async (t) => {
  const program = spawn(process.execPath, ['--input-type=module', '-e', PROGRAM], {
    cwd: import.meta.dirname,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.teardown(() => program.kill())
  const [said, warned] = await Promise.all([text(program.stdout), text(program.stderr)])
  t.equal(warned, '')
  t.same(JSON.parse(said), { seen: [3, 0, 3, 5, 0, 5, 6, 7, 0, 7, 7, 0, 7], open: 101 })
})

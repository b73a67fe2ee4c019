import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Worker } from 'node:worker_threads'
import t, { type Test } from 'tap'
import { WebSocketServer, WebSocket as WsWebSocket } from 'ws'
import { SessionSocket } from '../../../../packages/web/src/session-socket.ts'

/** A server of sessions in a thread of its own: it answers while this one stands. Says each connection's query. */
const SERVER = `
const { parentPort, workerData } = require('node:worker_threads')
const { WebSocketServer } = require('ws')
const server = new WebSocketServer({ host: '127.0.0.1', port: 0 }, () => parentPort.postMessage({ port: server.address().port }))
server.on('connection', (socket, request) => {
  const say = (message) => socket.send(JSON.stringify(message))
  const resumes = request.url.includes('resume=')
  parentPort.postMessage({ resumes })
  socket.on('message', (data) => { if (JSON.parse(data).type === 'ping') say({ type: 'pong' }) })
  if (resumes) setTimeout(() => say({ type: 'session.resumed', resume_token: 'b' }), workerData.resumeMs)
  else {
    say({ type: 'session.started', resume_token: 'a' })
    parentPort.on('message', () => socket.terminate())
  }
})`

/** As browsers have it: Node's own never says that no connection came about. */
class PageWebSocket extends WsWebSocket {
  constructor(url: URL) {
    super(url)
    this.on('error', () => {})
  }
}

async function startServer(t: Test, resumeMs: number) {
  const worker = new Worker(SERVER, { eval: true, workerData: { resumeMs } })
  t.teardown(() => worker.terminate())
  const [{ port }] = await once(worker, 'message')
  let resumed = 0
  worker.on('message', ({ resumes }: { resumes?: boolean }) => {
    if (resumes) resumed++
  })
  return { url: `ws://127.0.0.1:${port}/realtime`, cut: () => worker.postMessage('cut'), connections: () => resumed }
}

/** What the page hears of its session. */
function sessionOf(t: Test, url: string) {
  const told: string[] = []
  const started = Promise.withResolvers<void>()
  const resumed = Promise.withResolvers<void>()
  const socket = new SessionSocket(url, 'websocket', {
    message: () => started.resolve(),
    audio: () => {},
    lost: () => told.push('lost'),
    resumed: () => {
      told.push('resumed')
      resumed.resolve()
    },
    failed: (reason) => told.push(reason),
  })
  t.teardown(() => socket.close())
  return { socket, told, started: started.promise, resumed: resumed.promise }
}

const stand = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

t.test('a page that stood still does not take its own silence for the server’s', async (t) => {
  const server = await startServer(t, 0)
  const { socket, told, started } = sessionOf(t, server.url)
  await started
  stand(6_000)
  await wait(2_500)
  socket.suspect()
  stand(2_500)
  await wait(2_500)
  t.same(told, [], 'it is the same connection as before')
  t.equal(server.connections(), 0)
})

t.test('a server that takes its time to go on with a session is asked once', async (t) => {
  const server = await startServer(t, 2_500)
  const { told, started, resumed } = sessionOf(t, server.url)
  await started
  server.cut()
  await resumed
  t.same(told, ['lost', 'resumed'])
  t.equal(server.connections(), 1)
})

t.test('a server that is away is found by asking for it, for a browser may have its connections wait', async (t) => {
  t.intercept(globalThis, 'WebSocket', { value: PageWebSocket })
  const asked: string[] = []
  const isAway = Promise.withResolvers<void>()
  let away = false
  const sessions = new WebSocketServer({ noServer: true })
  const server = createServer((request, response) => {
    asked.push(request.method ?? '')
    if (away) request.socket.destroy()
    else response.writeHead(404).end()
    if (asked.length === 5) isAway.resolve()
  })
  server.on('upgrade', (request, stream, head) => {
    const resumes = request.url?.includes('resume=')
    if (resumes) asked.push('connection')
    if (away) return void stream.end('HTTP/1.1 503 Service Unavailable\r\n\r\n')
    sessions.handleUpgrade(request, stream, head, (socket) => {
      socket.send(JSON.stringify({ type: resumes ? 'session.resumed' : 'session.started', resume_token: 'a' }))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { told, started, resumed } = sessionOf(t, `ws://127.0.0.1:${(server.address() as AddressInfo).port}/realtime`)
  await started
  away = true
  for (const socket of sessions.clients) socket.terminate()
  await isAway.promise
  t.same(asked.splice(0), ['connection', 'HEAD', 'HEAD', 'connection', 'HEAD'])
  away = false
  await resumed
  t.same(asked, ['HEAD', 'connection'])
  t.same(told, ['lost', 'resumed'])
})

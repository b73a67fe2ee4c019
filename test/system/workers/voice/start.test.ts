import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pino } from 'pino'
import { type Test, test } from 'tap'
import { type WebSocket, WebSocketServer } from 'ws'
import { deriveConfig } from '../../../../config/effective.ts'
import { loadConfig } from '../../../../config/load.ts'
import type { NodeMessage, OpenSession, WorkerMessage } from '../../../../runtime/call/link/messages.ts'
import { decodeAudio, decodeWorkerMessage } from '../../../../runtime/call/link/protocol.ts'
import { WORKER_METRICS } from '../../../../runtime/conversation/worker-metrics.ts'
import { systemClock } from '../../../../runtime/lib/clock.ts'
import { parsePrometheusText } from '../../../../runtime/lib/prometheus-text.ts'
import { loadPlugins } from '../../../../runtime/plugin/host.ts'
import { startVoice } from '../../../../workers/voice/start.ts'
import { testReloads } from '../../../support/instance/reloads.ts'
import { AGENT_SPEC } from '../../../support/providers/agent-spec.ts'

/** The api node's end of the link, reduced to what a worker needs to see of it. */
class Node {
  readonly messages: WorkerMessage[] = []
  frames = 0
  readonly #socket: WebSocket

  constructor(socket: WebSocket) {
    this.#socket = socket
    socket.on('message', (data: Buffer, isBinary) => {
      if (isBinary) {
        this.frames += decodeAudio(data)?.length ?? 0
        return
      }
      const message = decodeWorkerMessage(data.toString())!
      this.messages.push(message)
      if (message.type === 'heartbeat') this.send({ type: 'beat' })
    })
    this.send({ type: 'welcome', nodeId: 'n' })
  }

  send(message: NodeMessage): void {
    this.#socket.send(JSON.stringify(message))
  }

  async told<T extends WorkerMessage['type']>(
    type: T,
    test: (message: Extract<WorkerMessage, { type: T }>) => boolean = () => true,
  ): Promise<Extract<WorkerMessage, { type: T }>> {
    for (let waits = 0; waits < 5000; waits++) {
      const found = this.messages.find((message) => message.type === type && test(message as never))
      if (found !== undefined) return found as Extract<WorkerMessage, { type: T }>
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    throw new Error(`never told ${type}; told ${JSON.stringify(this.messages)}`)
  }
}

async function startWorker(t: Test, env: Record<string, string> = {}) {
  const server = createServer()
  const sockets = new WebSocketServer({ server })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    for (const socket of sockets.clients) socket.terminate()
    server.close()
  })
  const config = {
    ...deriveConfig(
      loadConfig({
        ...env,
        PATCHBAY_API_URLS: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
        // Other tests run beside this one: lag is no part of it.
        PATCHBAY_WORKER_MAX_LAG_MS: '60000',
      }),
    ),
    jwtApiSecret: '',
    dataKey: 'x'.repeat(32),
    linkToken: 'secret',
  }
  const log = pino({ level: process.env.TEST_LOG ?? 'silent' })
  const { signal } = new AbortController()
  const plugins = await loadPlugins({ config, env: process.env, log, signal })
  const linked = once(sockets, 'connection') as Promise<[WebSocket]>
  const worker = await startVoice({
    ...{
      config,
      reloads: testReloads(config, log),
      env: {},
      plugins,
      log,
      clock: systemClock,
      requestStop: () => {},
      signal,
    },
  })
  t.teardown(() => worker.stop(0))
  const [socket] = await linked
  return { worker, node: new Node(socket) }
}

const open = (session: number, agent: Partial<OpenSession['agent']> = {}): NodeMessage => ({
  type: 'open',
  session,
  callId: `call-${session}`,
  format: { encoding: 'pcmu', sampleRateHz: 8000 },
  limits: { idleMs: 600_000, maxDurationMs: 600_000 },
  elapsedMs: 0,
  agent: {
    ...AGENT_SPEC,
    systemPrompt: 'We open at nine.',
    firstMessage: 'Hello there.',
    llm: { provider: 'offline', model: 'extractive' },
    stt: { provider: 'sim', model: '' },
    tts: { provider: 'offline', voice: 'en-us' },
    ...agent,
  },
})

async function metricsOf(url: string) {
  const samples = parsePrometheusText(await (await fetch(url)).text())
  return (name: string, labels: Record<string, string> = {}) =>
    samples.find(
      (one) => one.name === name && Object.entries(labels).every(([key, value]) => one.labels[key] === value),
    )?.value
}

test('a worker dials in, holds a conversation with the installed plugins, and tells how it is', async (t) => {
  const { worker, node } = await startWorker(t, { PATCHBAY_WORKER_CAPACITY: '2' })
  const hello = await node.told('hello')
  t.equal(hello.capacity, 2)
  node.send(open(7))
  await node.told('accepted')
  await node.told('event', ({ event }) => event.type === 'heard' && event.final && event.text === 'Hello there.')
  t.ok(node.frames > 20, `${node.frames} frames of audio`)
  await node.told('mark')

  const metric = await metricsOf(hello.metricsUrl)
  t.equal(metric(WORKER_METRICS.info, { worker_id: hello.workerId }), 1)
  t.equal(metric(WORKER_METRICS.state, { state: 'ready' }), 1)
  t.equal(metric(WORKER_METRICS.state, { state: 'draining' }), 0)
  t.equal(metric(WORKER_METRICS.activeSessions), 1)
  t.equal(metric(WORKER_METRICS.capacity), 2)
  t.equal(metric(WORKER_METRICS.sessionsTotal), 1)
  t.ok(metric(WORKER_METRICS.memoryBytes)! > 1e7)
  t.ok(metric(WORKER_METRICS.cpuUtilization)! >= 0)
  t.ok(metric(WORKER_METRICS.eventLoopLag)! >= 0)
  t.equal((await fetch(new URL('/', hello.metricsUrl))).status, 404)

  node.send({ type: 'event', session: 7, event: { type: 'typed', text: 'When do you open?', seq: 3, at: 0 } })
  await node.told('event', ({ event }) => event.type === 'turn' && event.inputs?.[0] === 3)
  await node.told('event', ({ event }) => event.type === 'heard' && event.final && /nine/.test(event.text))

  const stopped = worker.stop(20_000)
  await node.told('heartbeat', ({ state }) => state === 'draining')
  node.send(open(8))
  const rejected = await node.told('rejected')
  t.match(rejected, { session: 8, reason: 'draining' })
  node.send({ type: 'close', session: 7, reason: 'caller_hangup' })
  await stopped
  await t.rejects(fetch(hello.metricsUrl), 'its metrics are gone')
})

test('an agent that can not be made is refused with the reason, and the worker goes on', async (t) => {
  const { worker, node } = await startWorker(t)
  t.teardown(() => worker.stop(0))
  node.send(open(1, { llm: { provider: 'nobody', model: '' } }))
  const { session, reason, message } = await node.told('rejected')
  t.match({ session, reason }, { session: 1, reason: 'bad_agent' })
  t.match(message, /nobody/)
  node.send(open(2))
  await node.told('accepted', ({ session }) => session === 2)
})

test('an error nobody handled is counted, and the calls go on', async (t) => {
  const { worker, node } = await startWorker(t)
  t.teardown(() => worker.stop(0))
  const hello = await node.told('hello')
  void Promise.reject(new Error('stray'))
  await new Promise((resolve) => setTimeout(resolve, 50))
  const metric = await metricsOf(hello.metricsUrl)
  t.equal(metric(WORKER_METRICS.failuresTotal, { stage: 'process' }), 1)
  node.send(open(3))
  await node.told('accepted')
})

test('a worker loads no database driver and no Redis client', async (t) => {
  const { stdout } = await runProbe()
  t.strictSame(JSON.parse(stdout), [])
})

/** Imports the worker in a process of its own and lists which of the forbidden packages were loaded. */
async function runProbe(): Promise<{ stdout: string }> {
  const { execFile } = await import('node:child_process')
  const { promisify } = await import('node:util')
  const start = new URL('../../../../workers/voice/start.ts', import.meta.url)
  const script = `
    import { registerHooks } from 'node:module'
    const loaded = new Set()
    registerHooks({ resolve(specifier, context, next) {
      const found = next(specifier, context)
      const name = /node_modules\\/(pg|redis|@redis|kysely|bullmq|ioredis)\\//.exec(found.url)?.[1]
      if (name) loaded.add(name)
      return found
    } })
    await import(${JSON.stringify(start.href)})
    console.log(JSON.stringify([...loaded]))
    process.exit()
  `
  return promisify(execFile)(process.execPath, ['--input-type=module', '-e', script])
}

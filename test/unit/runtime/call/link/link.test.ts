import { type AddressInfo, createServer } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import WebSocket, { WebSocketServer } from 'ws'
import { listenForWorkerDrains } from '../../../../../api/operator/worker-drains.ts'
import { createLinkHub } from '../../../../../runtime/call/link/api-end.ts'
import type { SessionPort } from '../../../../../runtime/call/link/linked-conversation.ts'
import type { WorkerState } from '../../../../../runtime/call/link/messages.ts'
import { connectLinks } from '../../../../../runtime/call/link/worker-end.ts'
import type { AgentSpec } from '../../../../../runtime/call/types/agent-spec.ts'
import { systemClock } from '../../../../../runtime/lib/clock.ts'
import { freePort } from '../../../../../scripts/demo/free-port.ts'
import { requestWorkerDrain } from '../../../../../store/redis/worker-drain.ts'
import {
  LINK_TOKEN,
  makeCall,
  openSession,
  startNode,
  startWorker,
  until,
  upgradeStatus,
} from '../../../../support/instance/realtime-node.ts'
import { AGENT_SPEC } from '../../../../support/providers/agent-spec.ts'

const bearer = { authorization: `Bearer ${LINK_TOKEN}` }
const HELLO = JSON.stringify({
  type: 'hello',
  protocol: 2,
  workerId: 'w',
  capacity: 2,
  metricsUrl: 'http://127.0.0.1/',
})
/** Of a session that is not there. */
const AUDIO = Buffer.from([1, 0, 1, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 5, 5])
const BEAT = JSON.stringify({ type: 'heartbeat', state: 'ready', activeSessions: 0, capacity: 2 })

t.test('the link', async (t) => {
  const node = await startNode(t, { queueWaitMs: 60_000 })

  const dial = async (t: Test): Promise<WebSocket> => {
    const socket = new WebSocket(`${node.url}/link`, { headers: bearer })
    socket.on('error', () => undefined)
    t.teardown(() => socket.terminate())
    await new Promise((resolve) => socket.once('open', resolve))
    return socket
  }
  const gone = (socket: WebSocket) => until(() => socket.readyState === WebSocket.CLOSED)

  t.test('is refused without the right token', async (t) => {
    t.equal(await upgradeStatus(node, '/link'), 401)
    t.equal(await upgradeStatus(node, '/link', { authorization: `Bearer ${LINK_TOKEN}x` }), 401)
    t.equal(await upgradeStatus(node, '/link', { authorization: LINK_TOKEN }), 401)
    t.equal(await upgradeStatus(node, '/link', bearer), 101)
  })

  t.test('is closed on anything that is not of the link', async (t) => {
    const wrong: (string | Buffer)[][] = [
      ['hello'],
      [BEAT],
      [Buffer.from([1, 0, 0])],
      [HELLO.replace('"protocol":2', '"protocol":1')],
      [HELLO, HELLO],
      [HELLO, '{"type":"clear"}'],
      [HELLO, Buffer.from([1, 0, 1, 0])],
      [HELLO, Buffer.alloc(5 << 20)],
    ]
    for (const messages of wrong) {
      const socket = await dial(t)
      for (const message of messages) socket.send(message)
      await gone(socket)
    }
    await until(() => node.sessions.workers().length === 0)
  })

  t.test('answers heartbeats, so that an idle worker knows the node lives', async (t) => {
    const socket = await dial(t)
    const types: string[] = []
    socket.on('message', (data) => types.push(JSON.parse(String(data)).type))
    for (const message of [HELLO, BEAT, BEAT]) socket.send(message)
    await until(() => types.length === 3)
    t.strictSame(types, ['welcome', 'beat', 'beat'])
    socket.terminate()
    await until(() => node.sessions.workers().length === 0)
  })

  t.test(
    'has a worker reload its settings, and spares one of an older version, which would end the link',
    async (t) => {
      const heard: Record<string, string[]> = { old: [], new: [] }
      for (const [name, hello] of [
        ['old', HELLO.replace('"w"', '"old"')],
        ['new', HELLO.replace('"w"', '"new"').replace('"capacity"', '"reloads":true,"capacity"')],
      ] as const) {
        const socket = await dial(t)
        socket.on('message', (data) => heard[name]?.push(JSON.parse(String(data)).type))
        socket.send(hello)
        await until(() => heard[name]?.length === 1)
      }
      node.sessions.reloadWorkers()
      await until(() => heard.new?.length === 2)
      t.strictSame(heard, { old: ['welcome'], new: ['welcome', 'reload'] })
      node.sessions.drainWorker('old')
      await until(() => heard.old?.length === 2)
      t.strictSame(heard.old, ['welcome', 'drain'], 'nothing came before it')
    },
  )

  t.test('takes messages of sessions that are not there for nothing', async (t) => {
    const socket = await dial(t)
    for (const message of [
      HELLO,
      BEAT,
      '{"type":"accepted","session":9}',
      '{"type":"ended","session":9,"reason":"idle"}',
      '{"type":"ask","session":9,"id":1,"method":"knowledge","params":{}}',
      AUDIO,
      BEAT,
    ]) {
      socket.send(message)
    }
    await until(() => node.sessions.workers()[0]?.state === 'ready')
    t.equal(socket.readyState, WebSocket.OPEN)
    socket.terminate()
    await until(() => node.sessions.workers().length === 0)
  })

  t.test('of a worker that beats no more is given up, and its call goes to another', async (t) => {
    const silent = await dial(t)
    let asked = 0
    silent.on('message', (data, isBinary) => {
      const message = isBinary ? {} : (JSON.parse(String(data)) as { type?: string; session?: number })
      if (message.type !== 'open') return
      asked++
      silent.send(JSON.stringify({ type: 'accepted', session: message.session }))
    })
    silent.send(HELLO)
    silent.send(BEAT)
    await until(() => node.sessions.workers()[0]?.state === 'ready')
    const beating = setInterval(() => silent.send(BEAT), 500)
    t.teardown(() => clearInterval(beating))
    const client = await openSession(t, node, await makeCall(node))
    t.equal(asked, 1)
    clearInterval(beating)
    await startWorker(t, [node], { workerId: 'other' })
    await client.got('transcript', { text: 'Hello Bob' })
    await gone(silent)
  })

  t.test('a new link of a worker replaces its old one', async (t) => {
    const old = await dial(t)
    old.send(HELLO)
    const fresh = await dial(t)
    fresh.send(HELLO)
    await gone(old)
    t.equal(fresh.readyState, WebSocket.OPEN)
  })

  t.test('a worker that says no is left alone, and the session goes to the next', async (t) => {
    const full = await dial(t)
    let offers = 0
    full.on('message', (data) => {
      const message = JSON.parse(String(data)) as { type: string; session: number }
      if (message.type !== 'open') return
      offers++
      full.send(JSON.stringify({ type: 'rejected', session: message.session, reason: 'full', message: 'full' }))
    })
    full.send(HELLO.replace('"w"', '"full"'))
    full.send(BEAT)
    await until(() => node.sessions.workers().some(({ workerId, state }) => workerId === 'full' && state === 'ready'))
    await startWorker(t, [node], { workerId: 'roomy' })
    const clients = await Promise.all([1, 2, 3, 4].map(async () => openSession(t, node, await makeCall(node))))
    t.equal(clients.length, 4)
    t.ok(offers <= 2, `${offers} offers for two slots that rest after a no`)
  })
})

/** The hub of an api node with a worker that beat once. */
async function linkedHub(t: Test) {
  let nowMs = 0
  let reads = 0
  // Time goes on only as the hub looks at it.
  const clock = {
    ...systemClock,
    monotonicMs: () => {
      reads++
      nowMs += 400
      return nowMs
    },
  }
  let gone = 0
  const hub = createLinkHub({
    nodeId: 'n',
    tokens: ['secret'],
    clock,
    log: pino({ level: 'silent' }),
    changed: () => undefined,
    gone: () => gone++,
  })
  t.teardown(() => hub.close())
  const request = { query: new URLSearchParams(), header: () => 'Bearer secret', remoteAddress: '', requestId: '' }
  const join = await hub.route.upgrade(request)
  const socket = {
    send: () => true,
    bufferedBytes: () => 0,
    close: () => undefined,
    ping: () => undefined,
    terminate: () => undefined,
  }
  const handlers = join(socket)
  handlers.message(HELLO)
  handlers.message(BEAT)
  const checked = () => {
    const before = reads
    return until(() => reads > before)
  }
  const stand = (ms: number) => {
    nowMs += ms
  }
  return { message: (data: string | Uint8Array) => handlers.message(data), checked, stand, gone: () => gone }
}

t.test('an api node that stood still does not take its workers for dead', async (t) => {
  const { message, checked, stand, gone } = await linkedHub(t)
  await checked()
  stand(10_000)
  await checked()
  t.equal(gone(), 0, 'the beats that wait in the socket may be read first')
  message(BEAT)
  await checked()
  t.equal(gone(), 0)
  await until(() => gone() === 1)
})

t.test('nor a worker for dead whose beats wait behind its audio', async (t) => {
  const { message, checked, gone } = await linkedHub(t)
  for (let rounds = 0; rounds < 12; rounds++) {
    message(AUDIO)
    await checked()
  }
  t.equal(gone(), 0)
  await until(() => gone() === 1)
})

/** What a session is opened with, as far as links look at it. */
const OPEN = {
  callId: 'call-1',
  format: { encoding: 'pcm_s16le', sampleRateHz: 16_000 },
  limits: { idleMs: 60_000, maxDurationMs: 60_000 },
  elapsedMs: 0,
  agent: AGENT_SPEC,
} as const
const CHUNK = new Uint8Array(32_000)
const CHUNKS = 200

t.test('audio that a worker does not read is dropped and counted, what is said to it is not', async (t) => {
  let dropped = 0
  let bufferedBytes = 0
  const sent: (string | Uint8Array)[] = []
  const hub = createLinkHub({
    nodeId: 'n',
    tokens: ['secret'],
    clock: systemClock,
    log: pino({ level: 'silent' }),
    dropped: (bytes) => {
      dropped += bytes
    },
    changed: () => undefined,
    gone: () => undefined,
  })
  t.teardown(() => hub.close())
  const join = await hub.route.upgrade({
    query: new URLSearchParams(),
    header: () => 'Bearer secret',
    remoteAddress: '',
    requestId: '',
  })
  const handlers = join({
    send: (data) => sent.push(data) > 0,
    bufferedBytes: () => bufferedBytes,
    close: () => undefined,
    ping: () => undefined,
    terminate: () => undefined,
  })
  handlers.message(HELLO)
  handlers.message(BEAT)
  const nothing = () => undefined
  const events = { audio: nothing, message: nothing, late: nothing, ask: async () => undefined, lost: nothing }
  const session = hub.worker('w')!.open(OPEN, events)
  session.audio(CHUNK, 0)
  await until(() => sent.some((data) => typeof data !== 'string'))
  t.equal(dropped, 0)
  bufferedBytes = 9 << 20
  const before = sent.length
  session.audio(CHUNK, 16_000)
  await until(() => dropped > 0)
  t.ok(dropped >= CHUNK.byteLength, `${dropped} bytes`)
  session.played(1)
  t.match(sent.slice(before), [/"played"/], 'sound alone is dropped')
})

t.test('audio that an api node does not read is dropped and counted', async (t) => {
  const node = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  t.teardown(() => node.close())
  await new Promise((resolve) => node.once('listening', resolve))
  const { port } = node.address() as AddressInfo
  node.on('connection', (socket) => {
    t.teardown(() => socket.terminate())
    socket.on('message', (data, isBinary) => {
      const type = isBinary ? undefined : (JSON.parse(String(data)) as { type: string }).type
      if (type === 'hello') socket.send(JSON.stringify({ type: 'open', session: 1, ...OPEN }))
      if (type === 'accepted') socket.pause()
    })
  })
  let dropped = 0
  const opened = Promise.withResolvers<SessionPort>()
  const links = connectLinks({
    urls: [`ws://127.0.0.1:${port}`],
    token: LINK_TOKEN,
    workerId: 'w',
    capacity: 1,
    metricsUrl: 'http://127.0.0.1/',
    openConversation: async (_open, sessionPort) => {
      opened.resolve(sessionPort)
      return { audio: () => {}, input: () => {}, played: () => {}, close: async () => {} }
    },
    state: () => 'ready',
    dropped: (bytes) => {
      dropped += bytes
    },
    clock: systemClock,
    random: Math.random,
    log: pino({ level: 'silent' }),
    signal: new AbortController().signal,
  })
  t.teardown(() => links.stop(0))
  const sessionPort = await opened.promise
  await until(() => links.activeSessions() === 1)
  for (let chunk = 0; dropped === 0 && chunk < CHUNKS; chunk++) {
    sessionPort.sendAudio(CHUNK, chunk * 16_000)
    await setImmediate()
  }
  await until(() => dropped > 0)
  t.ok(dropped >= CHUNK.byteLength, `${dropped} bytes`)
})

t.test('a worker is told of the agent whose phone rings', async (t) => {
  const node = await startNode(t)
  const told = Promise.withResolvers<[string, AgentSpec]>()
  await startWorker(t, [node], { warm: (callId, agent) => told.resolve([callId, agent]) })
  const agent = { ...AGENT_SPEC, systemPrompt: 'be kind', temperature: 0.5 }
  node.sessions.workers()[0]?.warm('call-1', agent)
  t.strictSame(await told.promise, ['call-1', agent])
})

t.test(
  'a worker is drained by whichever node it is linked to: its call goes on, the next one is another’s',
  async (t) => {
    const asked = await startNode(t)
    const node = await startNode(t, { databaseUrl: asked.databaseUrl, redisUrl: asked.redisUrl })
    const drains = await listenForWorkerDrains(node.redis, node.sessions, pino({ level: 'silent' }))
    t.teardown(() => drains.stop())
    let state: WorkerState = 'ready'
    let orders = 0
    const links = await startWorker(t, [node], {
      workerId: 'old',
      state: () => state,
      drain: () => {
        orders++
        state = 'draining'
      },
    })
    const stateOf = () => node.sessions.workers().find(({ workerId }) => workerId === 'old')?.state
    const call = await openSession(t, node, await makeCall(node))
    t.equal(links.activeSessions(), 1)
    t.notOk(asked.sessions.drainWorker('old'), 'it is not linked to the node that is asked')
    await requestWorkerDrain(asked.redis, 'old')
    await until(() => orders === 1 && stateOf() === 'draining')
    await startWorker(t, [node], { workerId: 'fresh' })
    await openSession(t, node, await makeCall(node))
    t.equal(links.activeSessions(), 1, 'it was offered nothing new')
    call.send({ type: 'text', text: 'still there' })
    await call.got('transcript', { role: 'user' })
    t.ok(node.sessions.drainWorker('old'), 'asked again, it drains all the same')
    await until(() => orders === 2)
    t.equal(links.activeSessions(), 1)
  },
)

t.test('a worker is known to be offered calls from its first welcome on', async (t) => {
  const node = await startNode(t)
  const links = await startWorker(t, [node])
  await links.welcomed
  t.equal(node.sessions.workers().length, 1)
})

t.test('a worker dials again until its node is there, and again when it went away', async (t) => {
  const port = await freePort()
  const node = await startNode(t)
  const links = await startWorker(t, [node, { ...node, url: `ws://127.0.0.1:${port}` }])
  t.equal(links.connectedNodes(), 1, 'a node that is away keeps no other from being served')
  let dials = 0
  const late = createServer((socket) => {
    dials++
    socket.on('error', () => undefined).destroy()
  })
  t.teardown(() => late.close())
  await new Promise<void>((resolve) => late.listen(port, '127.0.0.1', resolve))
  await until(() => dials >= 2)
  t.ok(dials >= 2, 'the one that was away is dialled, and dialled again when it hangs up')
  node.sessions.stop(0)
  await until(() => links.connectedNodes() === 0)
  t.equal(links.connectedNodes(), 0, 'and one that went away is known to be gone')
})

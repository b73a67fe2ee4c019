import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { WebSocketServer } from 'ws'
import { createLinkHub, type SessionMessage } from '../../../../../runtime/call/link/api-end.ts'
import type {
  LinkedConversation,
  OpenConversation,
  SessionPort,
} from '../../../../../runtime/call/link/linked-conversation.ts'
import { LINK_PROTOCOL, type OpenSession } from '../../../../../runtime/call/link/messages.ts'
import { connectLinks } from '../../../../../runtime/call/link/worker-end.ts'
import type { AgentSpec } from '../../../../../runtime/call/types/agent-spec.ts'
import { systemClock } from '../../../../../runtime/lib/clock.ts'
import {
  LINK_TOKEN,
  type RealtimeNode,
  startNode,
  startWorker,
  until,
} from '../../../../support/instance/realtime-node.ts'
import { AGENT_SPEC } from '../../../../support/providers/agent-spec.ts'

const silent: LinkedConversation = {
  audio: () => undefined,
  input: () => undefined,
  played: () => undefined,
  close: async () => undefined,
}

const OPEN = {
  format: { encoding: 'pcm_s16le', sampleRateHz: 16_000 },
  limits: { idleMs: 60_000, maxDurationMs: 60_000 },
  elapsedMs: 0,
} as const

/** A session of the node's only worker, and what is heard of it. */
function offered(node: RealtimeNode, agent: AgentSpec, more: Pick<OpenSession, 'resume'> = {}) {
  const messages: SessionMessage[] = []
  const lost: string[] = []
  const answers: unknown[] = []
  const session = node.sessions.workers()[0]!.open(
    { callId: 'call', agent, ...OPEN, ...more },
    {
      audio: () => undefined,
      message: (message) => void messages.push(message),
      late: () => undefined,
      ask: async () => answers.shift(),
      lost: (reason) => void lost.push(reason),
    },
  )
  const got = async (type: SessionMessage['type']) => {
    await until(() => messages.some((message) => message.type === type))
    return messages.find((message) => message.type === type)!
  }
  return { session, messages, lost, got, answers }
}

async function linked(t: Test, openConversation: OpenConversation = async () => silent) {
  const node = await startNode(t)
  const warmed: string[] = []
  await startWorker(t, [node], { openConversation, warm: (callId) => void warmed.push(callId) })
  const bystander = offered(node, AGENT_SPEC)
  await bystander.got('accepted')
  const stands = () => {
    t.same(bystander.lost, [], 'the session beside it goes on')
    t.equal(node.sessions.workers().length, 1, 'and so does the link')
  }
  return { node, warmed, bystander, stands }
}

t.test('an agent that no worker could take ends its own session', async (t) => {
  const { node, warmed, stands } = await linked(t)
  const parameters = { type: 'object', properties: { a: { description: 'x'.repeat(10_000) } } }
  const tools = Array.from({ length: 128 }, (_, i) => ({
    ...{ name: `tool-${i}`, description: '', kind: 'mcp' as const, parameters },
  }))
  for (const agent of [
    { ...AGENT_SPEC, systemPrompt: 'x'.repeat(5 << 20) },
    { ...AGENT_SPEC, systemPrompt: '\u0001'.repeat(1 << 20) },
    { ...AGENT_SPEC, tools },
  ]) {
    node.sessions.workers()[0]!.warm('too large', agent)
    const { got } = offered(node, agent)
    t.match(await got('rejected'), { reason: 'bad_agent', message: /KiB/ })
  }
  node.sessions.workers()[0]!.warm('as it should be', AGENT_SPEC)
  await until(() => warmed.length > 0)
  t.same(warmed, ['as it should be'])
  stands()
})

t.test('of a long call the oldest is left out for the next worker', async (t) => {
  const opened: OpenSession[] = []
  const { node, stands } = await linked(t, async (open) => {
    opened.push(open)
    return silent
  })
  const turns = Array.from({ length: 200 }, (_, i) => ({
    ...{ role: i % 2 === 0 ? ('assistant' as const) : ('user' as const), text: `${i} ${'ä'.repeat(15_000)}` },
    ...{ startMs: i, endMs: i, interrupted: false },
  }))
  const toolOf = (turn: number, result?: string) => ({
    ...{ id: `t${turn}`, name: 'look_up', arguments: {}, turn },
    ...(result === undefined ? {} : { result }),
  })
  const tools = [toolOf(3), toolOf(10, 'x'.repeat(100_000)), toolOf(199, 'the last result')]
  const resume = {
    ...{ turns, tools, notes: [{ text: 'be brief', turn: 200 }], greeting: 'done' as const, greetingFrom: 2 },
    ...{ muted: false, held: false, takenOver: false, waiting: [] },
  }
  const { got } = offered(node, AGENT_SPEC, { resume })
  await got('accepted')
  const kept = opened.at(-1)!.resume!
  t.ok(kept.turns.length > 100, `${kept.turns.length} turns`)
  t.same(kept.turns, turns.slice(-kept.turns.length), 'the newest ones, in their order')
  t.same(
    kept.tools.map(({ id, turn }) => [id, turn]),
    [
      ['t3', 0],
      ['t199', kept.turns.length - 1],
    ],
    'what still runs, and what was said with the turns that are left',
  )
  t.same(kept.notes, [{ text: 'be brief', turn: kept.turns.length }])
  t.equal(kept.greetingFrom, 0)
  stands()
})

t.test('what a worker could not take of a call ends that call', async (t) => {
  const { node, stands } = await linked(t)
  const { session, got } = offered(node, AGENT_SPEC)
  await got('accepted')
  session.event({ seq: 1, at: 1, type: 'typed', text: 'x'.repeat(5 << 20) })
  t.match(await got('ended'), { reason: 'error', error: /too large/ })
  stands()
})

t.test('an answer that a worker could not take is an error to it, and the call goes on', async (t) => {
  const ports: SessionPort[] = []
  const { node, stands } = await linked(t, async (_open, port) => {
    ports.push(port)
    return silent
  })
  const { answers, got, messages } = offered(node, AGENT_SPEC)
  await got('accepted')
  answers.push({ output: 'x'.repeat(5 << 20) }, { output: 'short' })
  const ask = () => ports.at(-1)!.ask('tool', { id: 'a', name: 'n', arguments: {} }, new AbortController().signal)
  await t.rejects(ask(), { code: 'unavailable' })
  t.same(await ask(), { output: 'short' })
  t.notOk(messages.some(({ type }) => type === 'ended'))
  stands()
})

t.test('what an api node could not take of a conversation ends that conversation', async (t) => {
  const ports: SessionPort[] = []
  const { node, stands } = await linked(t, async (_open, port) => {
    ports.push(port)
    return silent
  })
  for (const text of ['x'.repeat(5 << 20), 'x'.repeat(100_001)]) {
    const { got, lost } = offered(node, AGENT_SPEC)
    await got('accepted')
    ports.at(-1)!.tell({ type: 'said', text })
    t.match(await got('ended'), { reason: 'error', error: /too large/ })
    t.same(lost, [])
  }
  stands()
})

/** An api node of our own making, and a worker that is linked to it. */
async function ownNode(
  t: Test,
  connected: (send: (message: object) => void, closes: () => void) => void,
  log = pino({ level: 'silent' }),
) {
  const node = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  t.teardown(() => node.close())
  await new Promise((resolve) => node.once('listening', resolve))
  const heard: { type: string; session?: number }[] = []
  let dials = 0
  node.on('connection', (socket) => {
    dials++
    t.teardown(() => socket.terminate())
    socket.on('message', (data, isBinary) => {
      if (!isBinary) heard.push(JSON.parse(String(data)))
    })
    connected(
      (message) => socket.send(JSON.stringify(message)),
      () => socket.terminate(),
    )
  })
  const links = connectLinks({
    ...{ urls: [`ws://127.0.0.1:${(node.address() as AddressInfo).port}`], token: LINK_TOKEN, workerId: 'w' },
    ...{ capacity: 10, metricsUrl: 'http://127.0.0.1/', openConversation: async () => silent },
    ...{ state: () => 'ready' as const, clock: systemClock, random: () => 0, log },
    signal: new AbortController().signal,
  })
  t.teardown(() => links.stop(0))
  return { heard, links, dials: () => dials }
}

t.test('a message that a worker can not read ends the session that it names', async (t) => {
  const { heard, links, dials } = await ownNode(t, (send) => {
    const open = { type: 'open', callId: 'call', agent: AGENT_SPEC, ...OPEN }
    send({ type: 'welcome', nodeId: 'n' })
    send({ ...open, session: 1 })
    send({ ...open, session: 2 })
    send({ ...open, session: 3, elapsedMs: 'soon' })
    send({ type: 'warm', callId: 'call', agent: {} })
    setTimeout(() => send({ type: 'event', session: 2, event: { type: 'of another version' } }), 200)
  })
  await until(() => heard.some(({ type }) => type === 'ended'))
  t.match(
    heard.filter(({ type }) => type === 'rejected' || type === 'ended'),
    [
      { type: 'rejected', session: 3, reason: 'failed', message: /could not read/ },
      { type: 'ended', session: 2, reason: 'error', error: /could not read/ },
    ],
  )
  await until(() => links.activeSessions() === 1)
  t.equal(dials(), 1, 'the link holds')
})

t.test('a link that is closed time and again is dialled less and less often', async (t) => {
  const { dials } = await ownNode(t, (send, close) => {
    send({ type: 'welcome', nodeId: 'n' })
    setTimeout(close, 5)
  })
  await sleep(2_000)
  // After 50, 100, 200, 400 and 800 ms.
  t.ok(dials() >= 2 && dials() <= 6, `${dials()} dials in two seconds`)
})

/** A log whose lines can be read. */
function kept() {
  const lines: string[] = []
  return { lines, log: pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) }) }
}

t.test('nothing that a message says is logged where it can not be read: at the worker', async (t) => {
  const { lines, log } = kept()
  const words = 'my card is 4111'
  const { heard, dials } = await ownNode(
    t,
    (send) => {
      send({ type: 'welcome', nodeId: 'n' })
      send({ type: 'event', session: 7, event: { type: 'typed', at: words } })
      send({ type: words, words })
      send({ words })
    },
    log,
  )
  await until(() => dials() > 1, undefined, 15_000)
  t.ok(heard.length > 0)
  t.ok(lines.some((line) => line.includes('Malformed message from an api node')))
  t.ok(lines.some((line) => line.includes('Malformed data from an api node')))
  t.notMatch(lines.join(''), /card|4111/)
})

t.test('and at the api node', async (t) => {
  const { lines, log } = kept()
  const hub = createLinkHub({
    ...{ nodeId: 'n', tokens: [LINK_TOKEN], clock: systemClock, log },
    changed: () => undefined,
    gone: () => undefined,
  })
  t.teardown(() => hub.close())
  const header = () => `Bearer ${LINK_TOKEN}`
  const accept = await hub.route.upgrade({ query: new URLSearchParams(), header, remoteAddress: '::1', requestId: 'r' })
  const link = accept({
    ...{ send: () => true, bufferedBytes: () => 0, ping: () => undefined },
    ...{ close: () => undefined, terminate: () => undefined },
  })
  const hello = { type: 'hello', protocol: LINK_PROTOCOL, workerId: 'w', capacity: 1, metricsUrl: 'http://127.0.0.1/' }
  link.message(JSON.stringify(hello))
  const lost: string[] = []
  hub.worker('w')?.open(
    { callId: 'call', agent: AGENT_SPEC, ...OPEN },
    {
      ...{ audio: () => undefined, message: () => undefined, late: () => undefined, ask: async () => undefined },
      lost: (reason) => void lost.push(reason),
    },
  )
  const words = 'my card is 4111'
  link.message(JSON.stringify({ type: 'event', session: 1, event: { type: 'said', text: [words] } }))
  t.same(lost, ['it sent a malformed message'])
  link.message(JSON.stringify({ type: 'said', words }))
  t.equal(hub.workers().length, 0)
  t.match(
    lines.map((line) => JSON.parse(line)).filter(({ level }) => level > 30),
    [{ type: 'event', callId: 'call', characters: Number }, { reason: 'malformed message' }],
  )
  t.notMatch(lines.join(''), /card|4111/)
})

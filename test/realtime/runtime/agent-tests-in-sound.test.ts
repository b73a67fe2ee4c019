import { pino } from 'pino'
import t from 'tap'
import { type RunTestDeps, runTest, type TestResult } from '../../../runtime/agent-tests/run-test.ts'
import type { AgentTest } from '../../../runtime/agent-tests/schema.ts'
import { SoundRoom } from '../../../runtime/agent-tests/sound/sound-room.ts'
import type { Prices } from '../../../runtime/call/cost.ts'
import type { CallEvent } from '../../../runtime/call/log/events.ts'
import type { AgentSpec } from '../../../runtime/call/types/agent-spec.ts'
import { loadPlugins, type PluginRegistry } from '../../../runtime/plugin/host.ts'
import { AGENT_SPEC } from '../../support/providers/agent-spec.ts'

/** Tests of agents in sound and real time: the voice, the recogniser and the language model that need no key, and real sockets for SIP. */

const log = pino({ level: process.env.TEST_LOG_LEVEL ?? 'silent' })
const stopping = new AbortController()
let plugins: PluginRegistry
let room: SoundRoom

const AGENT: AgentSpec = {
  ...AGENT_SPEC,
  language: 'en',
  stt: { provider: 'sim', model: 'default' },
  llm: { provider: 'offline', model: 'extractive' },
  tts: { provider: 'offline', voice: 'en-us' },
  firstMessage: 'Good morning, Harbour House.',
  systemPrompt:
    'You are the front desk of Harbour House.\nWe open at nine on Monday.\nA table for four costs 20 euros.',
  tools: [
    {
      name: 'order_status',
      description: 'Looks up the status of an order.',
      parameters: { type: 'object', properties: { id: { type: 'string', description: 'The number of the order' } } },
      kind: 'http',
    },
  ],
}
const prices = {
  costOf: () => ({ llmUsd: 0.001, sttUsd: 0.002, ttsUsd: 0.003 }),
  priceOf: () => null,
  platformUsdPerMinute: () => 0,
} satisfies Prices

const FRONT_DESK: AgentTest = {
  name: 'says when it opens and what a table costs',
  caller: { say: ['When do you open on Monday?', { say: 'What does a table for four cost?', wait: 600 }] },
  expect: [
    { heard: '/open at nine/i' },
    { heard: '20 euros' },
    { never_heard: '25 euros' },
    { turns: { min: 2, max: 2 } },
    { disposition: 'completed' },
    { ended_by: 'caller' },
    { latency_p95_ms: { max: 4_000 } },
    { cost_usd: { max: 0.01 } },
  ],
}

const over = (test: AgentTest, caller: Partial<AgentTest['caller']>): AgentTest => {
  return { ...test, caller: { ...test.caller, ...caller } }
}

const noSound = () => Promise.reject(new Error('Nothing is recorded'))

function run(test: AgentTest, other: Partial<RunTestDeps> = {}): Promise<TestResult> {
  return runTest(test, {
    ...{ agent: AGENT, limits: { idleMs: 30_000, maxDurationMs: 600_000 }, startsAtMs: Date.UTC(2026, 2, 29, 9) },
    ...{ plugins, prices, soundRoom: async () => room, recordedSound: noSound, signal: stopping.signal, log },
    ...other,
  })
}

const unmet = ({ error, facts, record }: TestResult) => ({
  ...(error === undefined ? {} : { error }),
  facts: facts.filter(({ verdict }) => verdict !== 'pass').map(({ fact, why }) => `${fact}: ${why}`),
  ...(facts.every(({ verdict }) => verdict === 'pass') ? {} : { turns: record?.turns }),
})

t.before(async () => {
  plugins = await loadPlugins({ config: {}, env: { ...process.env }, log, signal: stopping.signal })
  room = await SoundRoom.open(plugins, log)
})
t.teardown(() => stopping.abort())

t.test('a caller in sound is heard and answered over a line with loss, jitter, noise and echo', async (t) => {
  const line = { codec: 'pcmu', loss: 0.02, jitter_ms: 30, noise_db: -35, echo_db: -40 } as const
  const result = await run(over(FRONT_DESK, { channel: 'audio', line }))
  t.same(unmet(result), { facts: [] })
  t.equal(result.verdict, 'pass')
  t.equal(result.record?.costUsd, 0.006)
  t.ok((result.record?.usage.sttSeconds ?? 0) > 5, 'what was recognised is counted')
})

t.test('a SIP call that loses 2 % of its packets comes to the same facts', async (t) => {
  const events: CallEvent[] = []
  const result = await run(over(FRONT_DESK, { channel: 'sip', line: { loss: 0.02 } }), {
    tell: (event) => events.push(event),
  })
  t.same(unmet(result), { facts: [] })
  const media = events.filter((event) => event.type === 'media').at(-1)
  t.match(media, { codec: 'PCMU' })
  t.ok((media?.loss ?? 0) > 0, 'packets were lost', { media })
})

t.test('a caller cuts in, presses keys, and tools answer by their mocks', async (t) => {
  const test: AgentTest = {
    name: 'looks an order up although the caller is in a hurry',
    caller: {
      channel: 'audio',
      say: [
        { say: 'What is the status of my order?', barge_in_at: 1_500 },
        { keys: '42#' },
        { silence: 300 },
        { hang_up: true },
      ],
    },
    tools: { order_status: { returns: { message: 'It is on its way.' }, after_ms: 300 } },
    expect: [
      { called: 'order_status', once: true },
      { heard: 'on its way' },
      { never_heard: 'seven days a week' },
      { interruptions: { min: 1, max: 1 } },
    ],
  }
  const firstMessage = `Good morning, this is Harbour House, the restaurant at the harbour, where you are welcome on seven days a week.`
  const result = await run(test, { agent: { ...AGENT, firstMessage } })
  t.same(unmet(result), { facts: [] })
  t.match(result.record?.tools, [{ name: 'order_status', tookMs: 300, result: '{"message":"It is on its way."}' }])
})

t.test('what cannot be run says why, and never passes', async (t) => {
  const order = over({ ...FRONT_DESK, timeout_s: 60 }, { channel: 'audio', say: ['What is the status of my order?'] })
  const [unmocked, late, mute] = await Promise.all([
    run(order),
    run(over({ ...FRONT_DESK, timeout_s: 2 }, { channel: 'sip' })),
    run(over(FRONT_DESK, { channel: 'audio', voice: 'nobody/speaks' })),
  ])
  t.match(unmocked, { verdict: 'error', error: 'The tool "order_status" has no mock: add it under `tools`' })
  t.match(late, { verdict: 'error', error: 'The test did not end within 2 s' })
  t.match(mute, { verdict: 'error', error: /nobody/ })
})

t.test('a worker that stops gives the test back', async (t) => {
  const stop = new AbortController()
  const running = run(over(FRONT_DESK, { channel: 'sip' }), {
    signal: stop.signal,
    tell: (event) => event.type === 'said' && stop.abort(new Error('the worker stops')),
  })
  await t.rejects(running, { message: 'the worker stops' })
})

import { pino } from 'pino'
import { runTest } from './runtime/agent-tests/run-test.ts'
import { SoundRoom } from './runtime/agent-tests/sound/sound-room.ts'
import { loadPlugins } from './runtime/plugin/host.ts'
import { AGENT_SPEC } from './test/support/providers/agent-spec.ts'

const log = pino({ level: process.env.LEVEL ?? 'warn' })
const stopping = new AbortController()
const plugins = await loadPlugins({ config: {} as never, env: process.env as never, log, signal: stopping.signal })
const room = await SoundRoom.open(plugins, log)
const agent = { ...AGENT_SPEC, language: 'en', stt: { provider: 'sim', model: 'default' }, llm: { provider: 'offline', model: 'extractive' }, tts: { provider: 'offline', voice: 'en-us' },
  systemPrompt: 'You are the front desk of Harbour House.\nWe open at nine on Monday.\nA table for four costs 20 euros.', firstMessage: 'Good morning, Harbour House.' }
const n = Number(process.argv[3] ?? 1)
for (let i = 0; i < n; i++) {
const result = await runTest({ name: 'x', caller: { channel: process.argv[2] as never, line: JSON.parse(process.argv[4] ?? '{}'), say: ['When do you open on Monday?', { say: 'What does a table for four cost?', wait: 600 }] },
  expect: [{ heard: '/nine/' }, { heard: '20 euros' }, { disposition: 'completed' }, { ended_by: 'caller' }, { latency_p95_ms: { max: 3000 } }] }, {
  agent, limits: { idleMs: 30000, maxDurationMs: 600000 }, startsAtMs: Date.now(), plugins, prices: { costOf: () => ({ llmUsd: 0, sttUsd: 0, ttsUsd: 0 }), priceOf: () => null, platformUsdPerMinute: () => 0 } as never,
  soundRoom: async () => room, signal: stopping.signal, log, ...(process.env.TELL ? { tell: (e: unknown) => console.log(JSON.stringify(e)) } : {}) })
if (result.verdict !== "pass") console.log(JSON.stringify(result.record?.turns.map((x) => [x.role, x.text]))); console.log(result.verdict, result.error ?? '', result.facts.filter((f) => f.verdict !== 'pass'), result.record?.latenciesMs, result.tookMs)
if (n === 1) console.log(result.record)
}
stopping.abort()
setTimeout(() => process.exit(0), 3000)

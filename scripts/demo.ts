/** `npm run demo`: a simulated caller talks to an agent of a running Patchbay, or of one started for the occasion. */
import { parseArgs } from 'node:util'
import { processEnvironment } from '../config/load.ts'
import { signalWithin } from '../runtime/lib/async/signal-within.ts'
import { startDoubles } from '../test/support/providers/doubles/start.ts'
import { type DemoCall, runDemo } from './demo/call.ts'
import { findInstance, startInstance } from './demo/instance.ts'
import { combinationsOf } from './demo/providers.ts'
import type { CallLog } from './demo/rest.ts'
import { scriptOf } from './demo/script.ts'

const CALL_TIMEOUT_MS = 180_000
const HELP = `A simulated caller talks to an agent of a running Patchbay, live in the terminal:

  npm run demo -- [options]

  --url=http://localhost:8080   the Patchbay to call; default PATCHBAY_DEMO_URL, PUBLIC_URL or http://localhost:PORT,
                                and where none answers at that, one is started for the demo alone
  --times=1                     how many calls, one after the other
  --kill-worker                 kills the voice worker in mid-call; another one takes the call over
  --language=de                 both speak en, de, es, fr, it or pt; with multi the caller changes the language
  --providers=openai,deepgram   a Patchbay of its own holds the conversation over every combination of these providers,
                                each played by a local server that speaks its protocol: no account is needed
  --help                        this text

Ends with 0 only if every question was heard, answered and logged, and the barge-in cut the agent off.
`

const say = (line: string) => void process.stdout.write(`${line}\n`)

async function main(): Promise<boolean> {
  const { values } = parseArgs({
    options: {
      url: { type: 'string' },
      times: { type: 'string', default: '1' },
      'kill-worker': { type: 'boolean', default: false },
      language: { type: 'string' },
      providers: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    process.stdout.write(HELP)
    return true
  }
  const times = Number(values.times)
  if (!Number.isInteger(times) || times < 1) throw new Error(`--times must be a number of calls, not "${values.times}"`)
  if (values.language !== undefined && values.providers !== undefined) {
    throw new Error('The local servers of --providers understand English alone; leave --language out')
  }
  scriptOf(values.language)
  const env = processEnvironment()
  const url = values.url ?? env.PATCHBAY_DEMO_URL ?? env.PUBLIC_URL ?? `http://localhost:${env.PORT ?? 8080}`
  const interrupted = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => interrupted.abort(new Error('Interrupted')))
  }
  const combinations = values.providers === undefined ? [undefined] : combinationsOf(values.providers)
  const doubles = values.providers === undefined ? undefined : await startDoubles()
  const starting = doubles
    ? startInstance(doubles.env)
    : findInstance(url.replace(/\/$/, ''), values.url !== undefined, say)
  const instance = await starting.catch(async (error) => {
    await doubles?.stop()
    throw error
  })
  const calls = combinations.flatMap((providers) => Array.from({ length: times }, () => providers))
  let passed = 0
  try {
    say(`Patchbay at ${instance.url}`)
    for (const [index, providers] of calls.entries()) {
      if (interrupted.signal.aborted) break
      if (calls.length > 1) say(`\nCall ${index + 1} of ${calls.length}`)
      if (providers)
        say(`Over ${providers.LLM_provider} (llm), ${providers.STT_provider} (stt), ${providers.TTS_provider} (tts)`)
      const signal = signalWithin(CALL_TIMEOUT_MS, interrupted.signal)
      const call = await runDemo(instance.url, {
        killWorker: values['kill-worker'],
        providers,
        language: values.language,
        say,
        signal,
      }).catch(brokenOff)
      if (call) report(call)
      if (call?.faults.length === 0) passed++
    }
  } finally {
    await instance.stop()
    await doubles?.stop()
  }
  if (calls.length > 1) say(`\n${passed} of ${calls.length} calls went well`)
  return passed === calls.length
}

function brokenOff(error: unknown): undefined {
  say(`\nThe call broke off: ${error instanceof Error ? error.message : String(error)}`)
}

function report({ exchanges, log, faults }: DemoCall): void {
  say(`\nCall log: ${log.status} (${log.end_reason}), ${log.duration ?? '?'} s`)
  for (const turn of log.transcript) say(logLine(turn))
  const { usage, latency } = log
  say(
    `  usage: ${usage.llm_input_tokens} + ${usage.llm_output_tokens} tokens, ${usage.stt_seconds.toFixed(1)} s of speech heard, ${usage.tts_characters} characters spoken`,
  )
  say(`  latency of ${latency.turns} turns: p50 ${latency.p50_ms} ms, p95 ${latency.p95_ms} ms`)
  const measured = exchanges.map((exchange) => `${exchange.latencyMs.toFixed(0)} ms`).join(', ')
  say(`  latency measured by the caller: ${measured}`)
  say(faults.length === 0 ? '\nEvery question was heard, answered and logged.' : `\nWrong: ${faults.join('; ')}`)
}

function logLine(turn: CallLog['transcript'][number]): string {
  const from = (turn.start_ms / 1000).toFixed(1).padStart(6)
  const who = turn.role === 'user' ? 'caller' : 'agent '
  return `${from} s  ${who}  ${turn.text}${turn.interrupted ? ' —' : ''}`
}

try {
  process.exitCode = (await main()) ? 0 : 1
} catch (error) {
  process.stderr.write(`demo: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}

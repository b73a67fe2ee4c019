/**
 * `npm run kill-workers`: kills voice workers in the middle of calls, at random moments, and looks whether anybody noticed.
 *
 *     npm run kill-workers -- [--times=200] [--calls=4] [--workers=4] [--all-of=4] [--seed=1] [--kinds=spoken,typed,long,tool]
 *                             [--agent=pipeline|speech_to_speech]
 *
 * Starts a Patchbay of its own. In each round every call has an exchange (spoken, typed, a long answer, a tool that takes a while)
 * and one voice worker is killed somewhere in it; in each `--all-of`th round all of them are, so that no seat is free until one is
 * back. Ends with 0 only if every question was answered without being asked again, no tool ran twice, no leg dropped
 * and every call's log is that of a call whose worker lived; where a seat was free, 95 % of the answers came within 3 s.
 */
import { parseArgs } from 'node:util'
import { seeded } from '../test/support/phone/numbers.ts'
import { startDoubles } from '../test/support/providers/doubles/start.ts'
import { makeAgent } from './demo/call.ts'
import { startInstance } from './demo/instance.ts'
import { AGENTS, agentOf, SCRIPT } from './kill-workers/agent.ts'
import { startBookings } from './kill-workers/bookings.ts'
import { type AffectedExchange, CallUnderFire, EXCHANGES } from './kill-workers/call-under-fire.ts'
import { Workers } from './kill-workers/workers.ts'

const say = (line: string) => void process.stdout.write(`${line}\n`)
/** The moment of a kill, from the beginning of the exchanges. */
const MAX_KILL_AFTER_MS = 3_500
const PROMPT_MS = 3_000
const PROMPT_SHARE = 0.95

function positive(name: string, text: string): number {
  const value = Number(text)
  if (!Number.isInteger(value) || value < 1) throw new Error(`--${name} must be a whole number from 1, not "${text}"`)
  return value
}

async function main(): Promise<boolean> {
  const { values } = parseArgs({
    options: {
      times: { type: 'string', default: '200' },
      calls: { type: 'string', default: '4' },
      workers: { type: 'string', default: '4' },
      'all-of': { type: 'string', default: '4' },
      seed: { type: 'string', default: '1' },
      kinds: { type: 'string', default: EXCHANGES.join() },
      agent: { type: 'string', default: 'pipeline' },
    },
  })
  const times = positive('times', values.times)
  const callCount = positive('calls', values.calls)
  const workerCount = positive('workers', values.workers)
  const allOf = positive('all-of', values['all-of'])
  const kinds = EXCHANGES.filter((kind) => values.kinds.split(',').includes(kind))
  if (kinds.length === 0) throw new Error(`--kinds names some of ${EXCHANGES.join()}, not "${values.kinds}"`)
  const agent = (Object.keys(AGENTS) as (keyof typeof AGENTS)[]).find((one) => one === values.agent)
  if (agent === undefined) throw new Error(`--agent is one of ${Object.keys(AGENTS).join()}, not "${values.agent}"`)
  const random = seeded(positive('seed', values.seed))
  const interrupted = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => interrupted.abort(new Error('Interrupted')))
  }
  const bookings = await startBookings()
  const doubles = await startDoubles([], { script: SCRIPT })
  const instance = await startInstance({
    ...(agent === 'speech_to_speech' ? doubles.env : {}),
    PATCHBAY_VOICE_WORKERS: String(workerCount),
    PATCHBAY_WORKER_CAPACITY: String(callCount),
    PATCHBAY_WRAP_UP_MS: '0',
    PATCHBAY_RECOVERY_WAIT_MS: '60000',
    PATCHBAY_WORKER_MAX_LAG_MS: '60000',
    PATCHBAY_TOOLS_ALLOW_NET: `127.0.0.1:${bookings.port}`,
  }).catch(async (error) => {
    await Promise.all([bookings.close(), doubles.stop()])
    throw error
  })
  const faults: string[] = []
  const affected: AffectedExchange[] = []
  let kills = 0
  try {
    const { rest, agentId } = await makeAgent(instance.url, agentOf(bookings.port, agent))
    const workers = new Workers(rest, interrupted.signal)
    await workers.ready(workerCount)
    const calls = await Promise.all(
      Array.from({ length: callCount }, () => CallUnderFire.dial(rest, agentId, bookings, interrupted.signal)),
    )
    for (let round = 1; kills < times && !interrupted.signal.aborted; round++) {
      const all = round % allOf === 0
      // The next is killed while the last comes back, as long as a seat is free elsewhere.
      await workers.ready(all ? workerCount : Math.max(2, workerCount - 1))
      const exchanges = calls.map((call) => {
        const kind = kinds[Math.floor(random() * kinds.length)]!
        return call.exchange(kind, !all).catch(async (error: unknown) => {
          const fault = `round ${round}, ${kind}: ${error instanceof Error ? error.message : String(error)}`
          faults.push(fault)
          say(`${fault}\n${await call.trail().catch(String)}`)
        })
      })
      const killed = await workers.killSome(random() * MAX_KILL_AFTER_MS, all, random)
      kills += killed
      for (const call of calls) call.killed()
      await Promise.all(exchanges)
      if (round % 5 === 0) say(`round ${round}: ${kills} workers killed, ${faults.length} faults`)
      if (calls.some((call) => call.over)) break
    }
    for (const call of calls) {
      const { faults: inLog, affected: hit } = await call.hangUp()
      faults.push(...inLog)
      affected.push(...hit)
    }
  } finally {
    await instance.stop()
    await Promise.all([bookings.close(), doubles.stop()])
  }
  return report(kills, affected, faults)
}

function report(kills: number, affected: readonly AffectedExchange[], faults: readonly string[]): boolean {
  say(`\n${kills} workers killed; ${affected.length} exchanges lost their worker`)
  for (const kind of EXCHANGES) {
    const waits = affected.filter((one) => one.kind === kind && one.seatFree).map(({ waitedMs }) => waitedMs)
    waits.sort((a, b) => a - b)
    const at = (share: number) => waits[Math.max(0, Math.ceil(waits.length * share) - 1)]?.toFixed(0) ?? '-'
    say(
      `  ${kind.padEnd(7)} ${String(waits.length).padStart(4)} with a free seat: p50 ${at(0.5)} ms, p95 ${at(0.95)} ms`,
    )
  }
  const free = affected.filter(({ seatFree }) => seatFree)
  const prompt = free.filter(({ waitedMs }) => waitedMs <= PROMPT_MS).length
  const share = free.length === 0 ? 1 : prompt / free.length
  say(
    `  ${prompt} of ${free.length} within ${PROMPT_MS / 1000} s where a seat was free (${(share * 100).toFixed(1)} %)`,
  )
  for (const fault of faults.slice(0, 40)) say(`  wrong: ${fault}`)
  say(faults.length === 0 ? '\nNobody noticed.' : `\n${faults.length} faults`)
  return faults.length === 0 && share >= PROMPT_SHARE
}

try {
  process.exitCode = (await main()) ? 0 : 1
} catch (error) {
  process.stderr.write(`kill-workers: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}

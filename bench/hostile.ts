/**
 * A tenant that asks for all there is beside one that asks for little: what the quiet one waits, alone and then beside it; the
 * longest the api's event loop stood; how late a live call's audio came. `npm run bench -- hostile [seconds]`.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { startInstance } from '../scripts/demo/instance.ts'
import { attacks } from './hostile/attacks.ts'
import { Tenant } from './hostile/tenant.ts'

const SECONDS = 60
const ROUNDS_ALONE = 3
const LOOP_BUDGET_MS = 20
/** 20 ms frames: one that comes later than this after the one before missed its deadline by 40 ms. */
const LATE_AUDIO_MS = 60
const LIMIT = 2

export async function run([seconds]: readonly string[]): Promise<void> {
  const durationMs = Number(seconds ?? SECONDS) * 1_000
  const adminPort = 21_000 + (process.pid % 4_000)
  const instance = await startInstance({
    PATCHBAY_ADMIN_PORT: String(adminPort),
    PATCHBAY_WORKER_CAPACITY: '20',
    PATCHBAY_LOG_LEVEL: 'error',
  })
  const abort = new AbortController()
  try {
    const quiet = await Tenant.signUp(instance.url, 'quiet')
    const hostile = await Tenant.signUp(instance.url, 'hostile')
    await quiet.web()
    const alone = await measured(quiet, async (round) => round < ROUNDS_ALONE)
    const audio = await quiet.openLongSession()
    await loopDelay(adminPort)

    const endMs = performance.now() + durationMs
    process.stderr.write('the hostile tenant begins\n')
    const running = attacks(hostile, abort.signal)
    await sleep(2_000)
    let longestMs = 0
    const watching = (async () => {
      while (!abort.signal.aborted) {
        longestMs = Math.max(longestMs, await loopDelay(adminPort))
        await sleep(1_000)
      }
    })()
    const beside = await measured(quiet, async () => performance.now() < endMs)
    abort.abort()
    const done = await running
    await watching.catch(() => {})

    console.log(
      `${durationMs / 1_000} s beside: ${Object.entries(done)
        .map(([name, n]) => `${name} ${n}`)
        .join(', ')}`,
    )
    console.log('what              alone (median ms)   beside (median ms)   worst   times')
    for (const [what, before] of Object.entries(alone)) {
      const after = beside[what] ?? []
      const times = median(after) / median(before)
      const cells = [median(before), median(after), Math.max(...after)].map((ms) => ms.toFixed(0).padStart(12))
      console.log(`${what.padEnd(14)}${cells.join('')}   ${times.toFixed(1)}${times > LIMIT ? ' (over)' : ''}`)
    }
    const gaps = audio.gapsMs.slice(1)
    const late = gaps.filter((ms) => ms > LATE_AUDIO_MS).length
    console.log(`api loop: longest delay ${longestMs.toFixed(1)} ms (budget ${LOOP_BUDGET_MS})`)
    console.log(
      `audio of a live call: ${gaps.length} frames, ${late} later than ${LATE_AUDIO_MS} ms, worst ${Math.max(0, ...gaps).toFixed(0)} ms`,
    )
    console.log(`health: ${(await fetch(`${instance.url}/health`)).status}`)
  } finally {
    abort.abort()
    await instance.stop()
  }
}

type Waits = Record<string, number[]>

/** Rounds of what the quiet tenant does, one thing after the other. */
async function measured(quiet: Tenant, goesOn: (round: number) => Promise<boolean>): Promise<Waits> {
  const waits: Waits = { page: [], document: [], 'web session': [], call: [] }
  const time = async (what: string, act: () => Promise<unknown>) => {
    const startMs = performance.now()
    await act()
    const waitedMs = performance.now() - startMs
    waits[what]?.push(waitedMs)
    process.stderr.write(`${what} ${waitedMs.toFixed(0)} ms\n`)
  }
  for (let round = 0; await goesOn(round); round++) {
    for (let i = 0; i < 5; i++) await time('page', () => quiet.get('/calls/logs?page=1'))
    await time('document', () => quiet.document('Eleven byte'))
    await time('web session', () => quiet.web())
    await time('call', () => quiet.callOneRow())
  }
  return waits
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN

/** The longest the loop stood since the last look, in ms. */
async function loopDelay(adminPort: number): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text()
  return Number(/^nodejs_eventloop_lag_max_seconds\S* ([\d.e+-]+)$/m.exec(text)?.[1] ?? 0) * 1_000
}

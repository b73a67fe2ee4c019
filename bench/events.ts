/**
 * Webhooks under load, and under kill -9. `npm run bench -- events [--rate=1000] [--seconds=60] [--calls=50]`: how old events are
 * when a local receiver has them, and how late the audio of live calls comes beside it. `--kills=100 [--minutes=10]`: the
 * job worker is killed so often, at random, while events are written; every committed one must be delivered.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { openStand, type Stand } from './events/stand.ts'
import { quantile } from './support/quantile.ts'

const TICK_MS = 10
const WARM_UP_MS = 5_000
const AGE_BUDGET_MS = 500
/** 20 ms frames: one that comes later than this after the one before missed its deadline by 40 ms. */
const LATE_AUDIO_MS = 60
const SETTLE_MS = 60_000

export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rate: { type: 'string', default: '1000' },
      seconds: { type: 'string', default: '60' },
      calls: { type: 'string', default: '50' },
      kills: { type: 'string', default: '0' },
      minutes: { type: 'string', default: '10' },
    },
  })
  const [rate, seconds, calls, kills, minutes] = Object.entries(values).map(([name, text]) => {
    const number = Number(text)
    if (!(number >= 0)) throw new Error(`--${name} must be a number, not "${text}"`)
    return number
  }) as [number, number, number, number, number]
  const { stand, instance } = await openStand()
  let stopped = false
  const stopInstance = async () => {
    if (!stopped) await instance.stop()
    stopped = true
  }
  try {
    if (kills > 0) {
      await stopInstance()
      await underKills(stand, kills, minutes * 60_000)
    } else await underLoad(stand, { rate, seconds, calls })
  } finally {
    await stopInstance()
    await stand.stop()
  }
}

async function underLoad(stand: Stand, { rate, seconds, calls }: { rate: number; seconds: number; calls: number }) {
  const abort = new AbortController()
  const talking = await stand.tenant.talkingAgent()
  const listeners = Array.from({ length: calls }, () => stand.tenant.listen(talking, abort.signal))
  await sleep(WARM_UP_MS)
  for (const { gapsMs } of listeners) gapsMs.length = 0
  await tellFor(stand, rate, WARM_UP_MS)
  await sleep(WARM_UP_MS)
  await stand.ask('forget')
  for (const { gapsMs } of listeners) gapsMs.length = 0
  const told = await tellFor(stand, rate, seconds * 1_000)
  const gapsMs = listeners.flatMap((one) => one.gapsMs).sort((a, b) => a - b)
  const untilMs = performance.now() + SETTLE_MS
  let figures = await stand.ask<{ agesMs: number[] }>('figures')
  while (figures.agesMs.length < told && performance.now() < untilMs) {
    await sleep(200)
    figures = await stand.ask('figures')
  }
  abort.abort()
  await Promise.all(listeners.map(({ over }) => over))
  const agesMs = figures.agesMs.sort((a, b) => a - b)
  const late = gapsMs.filter((ms) => ms > LATE_AUDIO_MS).length
  console.log(`events told ${told} in ${seconds} s (${(told / seconds).toFixed(0)}/s), delivered ${agesMs.length}`)
  console.log(`age at the receiver: ${quantiles(agesMs)}; budget p99 ${AGE_BUDGET_MS} ms`)
  console.log(
    `audio of ${calls} calls: ${gapsMs.length} frames, ${late} over ${LATE_AUDIO_MS} ms apart; gaps ${quantiles(gapsMs)}`,
  )
  if (agesMs.length < told || quantile(agesMs, 0.99) > AGE_BUDGET_MS || late > 0) process.exitCode = 1
}

/** Writes events evenly; resolves with how many. */
async function tellFor(stand: Stand, rate: number, forMs: number): Promise<number> {
  const startedMs = performance.now()
  let told = 0
  const writing: Promise<unknown>[] = []
  for (;;) {
    const elapsedMs = performance.now() - startedMs
    const due = Math.floor((Math.min(elapsedMs, forMs) * rate) / 1_000) - told
    if (due > 0) writing.push(stand.tell(due))
    told += due
    if (elapsedMs >= forMs) break
    await sleep(TICK_MS)
  }
  await Promise.all(writing)
  return told
}

async function underKills(stand: Stand, kills: number, mostMs: number): Promise<void> {
  const abort = new AbortController()
  const told: string[] = []
  const telling = (async () => {
    while (!abort.signal.aborted) {
      told.push(...(await stand.tell(5)))
      await sleep(20)
    }
  })()
  const untilMs = performance.now() + mostMs
  let killed = 0
  while (killed < kills && performance.now() < untilMs) {
    const jobs = await startJobs(stand)
    await sleep(Math.random() * 1_500)
    jobs.kill('SIGKILL')
    await once(jobs, 'exit')
    killed++
    if (killed % 10 === 0) process.stderr.write(`${killed} kills, ${told.length} events\n`)
  }
  abort.abort()
  await telling
  const last = await startJobs(stand)
  const settledMs = performance.now() + 3 * SETTLE_MS
  const missing = async () => {
    const { ids } = await stand.ask<{ ids: string[] }>('ids')
    const got = new Set(ids)
    return told.filter((id) => !got.has(id)).length
  }
  let left = await missing()
  while (left > 0 && performance.now() < settledMs) {
    await sleep(500)
    left = await missing()
  }
  last.kill('SIGTERM')
  await once(last, 'exit')
  console.log(`${killed} kills of the job worker: ${told.length} events committed, ${left} not delivered`)
  if (left > 0 || killed < kills) process.exitCode = 1
}

/** Resolves once it is ready. */
async function startJobs({ env }: Stand) {
  const port = 22_000 + Math.floor(Math.random() * 10_000)
  const child = spawn(process.execPath, [join(import.meta.dirname, '../main.ts'), 'jobs'], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, ...env, PATCHBAY_JOBS_ADMIN_PORT: String(port) },
  })
  for (;;) {
    const ready = await fetch(`http://127.0.0.1:${port}/ready`).catch(() => undefined)
    if (ready?.ok) return child
    if (child.exitCode !== null) throw new Error(`The job worker ended with ${child.exitCode}`)
    await sleep(50)
  }
}

const quantiles = (sorted: readonly number[]): string =>
  [0.5, 0.95, 0.99, 1].map((q) => `${q === 1 ? 'max' : `p${q * 100}`} ${quantile(sorted, q).toFixed(0)} ms`).join(', ')

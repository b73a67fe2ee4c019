/**
 * Webhooks under load, and under kill -9. `npm run bench -- events [--rate=1000] [--seconds=60] [--calls=50]`: how old events are
 * when a local receiver has them, and how late the audio of live calls comes beside it; with `--rate=0` the calls alone, as the
 * machine carries them. `--kills=100 [--minutes=15]`: the api and the job worker are killed so often, at random, while events are
 * written; every committed one must be delivered.
 */
import { availableParallelism } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { openServices } from './events/services.ts'
import { openStand, type Stand } from './events/stand.ts'
import { deliverUnderKills } from './events/under-kills.ts'
import { processorSeconds } from './support/processor-seconds.ts'
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
      minutes: { type: 'string', default: '15' },
    },
  })
  const number = (name: keyof typeof values): number => {
    const value = Number(values[name])
    if (!(value >= 0)) throw new Error(`--${name} must be a number, not "${values[name]}"`)
    return value
  }
  const kills = number('kills')
  if (kills > 0) {
    const services = await openServices()
    try {
      await underKills(services.env, kills, number('minutes') * 60_000)
    } finally {
      await services.stop()
    }
    return
  }
  const stand = await openStand()
  try {
    await underLoad(stand, { rate: number('rate'), seconds: number('seconds'), calls: number('calls') })
  } finally {
    await stand.stop()
  }
}

async function underLoad(stand: Stand, { rate, seconds, calls }: { rate: number; seconds: number; calls: number }) {
  await allServes(stand)
  stand.call(calls)
  await sleep(WARM_UP_MS)
  await tellFor(stand, rate, WARM_UP_MS)
  await sleep(WARM_UP_MS)
  await stand.ask('forget')
  await stand.askCallers('forget')
  const before = processorSeconds(roleOf)
  const told = await tellFor(stand, rate, seconds * 1_000)
  const used = processorSeconds(roleOf)
  const { gapsMs, loopLateMs } = await stand.askCallers('figures')
  const untilMs = performance.now() + SETTLE_MS
  let figures = await stand.ask<{ agesMs: number[] }>('figures')
  while (figures.agesMs.length < told && performance.now() < untilMs) {
    await sleep(200)
    figures = await stand.ask('figures')
  }
  const { agesMs } = figures
  const late = gapsMs.filter((ms) => ms > LATE_AUDIO_MS).length
  if (told > 0) {
    console.log(`events told ${told} in ${seconds} s (${(told / seconds).toFixed(0)}/s), delivered ${agesMs.length}`)
    console.log(`age at the receiver: ${quantiles(agesMs)}; budget p99 ${AGE_BUDGET_MS} ms`)
  }
  console.log(
    `audio of ${calls} calls: ${gapsMs.length} frames, ${late} over ${LATE_AUDIO_MS} ms apart; gaps ${quantiles(gapsMs)}`,
  )
  console.log(
    `the callers' own loop was late: p99 ${loopLateMs.p99.toFixed(0)} ms, max ${loopLateMs.max.toFixed(0)} ms`,
  )
  const cores = [...used].map(([name, s]) => [name, (s - (before.get(name) ?? 0)) / seconds] as const)
  const shown = cores.sort(([, a], [, b]) => b - a).map(([name, share]) => `${name} ${share.toFixed(2)}`)
  console.log(`cores of ${availableParallelism()}: ${shown.join(', ')}`)
  if (agesMs.length < told || (told > 0 && quantile(agesMs, 0.99) > AGE_BUDGET_MS) || late > 0) process.exitCode = 1
}

/** Resolves once an event has come to the receiver: the job worker begins to serve after the api. */
async function allServes(stand: Stand): Promise<void> {
  const untilMs = performance.now() + SETTLE_MS
  await stand.tell(1)
  while ((await stand.ask<{ count: number }>('figures')).count === 0) {
    if (performance.now() > untilMs) throw new Error(`No event was delivered within ${SETTLE_MS / 1_000} s`)
    await sleep(100)
  }
}

/** Whose processor time it is, by the command line. */
function roleOf(command: string): string {
  if (command.includes('postgres')) return 'Postgres'
  if (command.includes('redis')) return 'Redis'
  if (command.includes('receiver.ts')) return 'receiver'
  if (command.includes('callers.ts')) return 'callers'
  const [, role = 'benchmark'] = /main\.ts (\w+)/.exec(command) ?? []
  return role
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

async function underKills(env: Record<string, string>, kills: number, mostMs: number): Promise<void> {
  const progress = (line: string) => void process.stderr.write(`${line}\n`)
  const figures = await deliverUnderKills({ env, kills, mostMs, random: Math.random, progress })
  const { committed, missing, untrue } = figures
  const killed = figures.kills.api + figures.kills.jobs
  console.log(
    `${killed} kills (api ${figures.kills.api}, jobs ${figures.kills.jobs}): ${committed} events committed, ${missing} not delivered, ${untrue} delivered that are none`,
  )
  if (missing > 0 || untrue > 0 || killed < kills) process.exitCode = 1
}

const quantiles = (values: readonly number[]): string =>
  [0.5, 0.95, 0.99, 1].map((q) => `${q === 1 ? 'max' : `p${q * 100}`} ${quantile(values, q).toFixed(0)} ms`).join(', ')

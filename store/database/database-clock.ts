import { setTimeout as sleep } from 'node:timers/promises'
import type { ClientBase } from 'pg'
import { inBackground } from '../../runtime/lib/async/boundary.ts'
import { endedBy } from '../../runtime/lib/async/ended-by.ts'
import { signalWithin } from '../../runtime/lib/async/signal-within.ts'
import type { Clock } from '../../runtime/lib/clock.ts'
import type { Logger } from '../../runtime/process/log.ts'
import { postgresClient } from '../connections/postgres-client.ts'
import type { Store } from './database.ts'

const ASK_EVERY_MS = 10_000
const ASK_TIMEOUT_MS = 3_000
/** The database's time in milliseconds since the Unix epoch, in a column `ms`. */
export const DATABASE_TIME = 'select extract(epoch from clock_timestamp())::float8 * 1000 as ms'
/** What the way to the database makes uncertain anyway. Within it time is not set, so that it runs evenly. */
const TOLERANCE_MS = 50
/** More is said in the log: the machine has no NTP. */
const WRONG_MS = 2_000

/** The database's time when it was asked between two moments of the machine's own clocks. */
export interface TimeAsked {
  readonly databaseMs: number
  readonly askedAtMs: number
  readonly answeredAtMs: number
}

/**
 * The database's clock, which all nodes of an installation share, whatever the clocks of their machines say. It goes on by the machine's
 * monotonic clock, so a machine whose wall clock is set meanwhile changes nothing.
 */
export class DatabaseClock implements Clock {
  readonly #machine: Clock
  /** The wall clock when the monotonic one was 0. */
  #originMs: number

  constructor(machine: Clock) {
    this.#machine = machine
    this.#originMs = machine.nowMs() - machine.monotonicMs()
  }

  nowMs(): number {
    return Math.round(this.#originMs + this.#machine.monotonicMs())
  }

  monotonicMs(): number {
    return this.#machine.monotonicMs()
  }

  /** Sets it by an answer of the database; moments are those of the monotonic clock. Returns how far the machine's wall clock is ahead of it. */
  set({ databaseMs, askedAtMs, answeredAtMs }: TimeAsked): number {
    const halfMs = (answeredAtMs - askedAtMs) / 2
    const originMs = databaseMs - askedAtMs - halfMs
    if (Math.abs(originMs - this.#originMs) > halfMs + TOLERANCE_MS) this.#originMs = originMs
    return this.#machine.nowMs() - this.nowMs()
  }
}

/** Opens the clock of a database that answers, and keeps it right until the signal aborts. */
export async function openDatabaseClock(options: {
  databaseUrl: string
  machine: Clock
  log: Logger
  signal: AbortSignal
}): Promise<Clock> {
  const { databaseUrl, machine, log, signal } = options
  const clock = new DatabaseClock(machine)
  let wasWrong = false
  const set = async (): Promise<void> => {
    const aheadMs = Math.round(clock.set(await askTime(databaseUrl, machine)))
    const isWrong = Math.abs(aheadMs) > WRONG_MS
    if (isWrong && !wasWrong) log.warn({ aheadMs }, "This machine's clock is wrong; the database's is used")
    wasWrong = isWrong
  }
  await set()
  const keep = async (): Promise<void> => {
    while (!signal.aborted) {
      await sleep(ASK_EVERY_MS, undefined, { ref: false, signal }).catch(() => {})
      // While the database is away it goes on by itself.
      if (!signal.aborted) await set().catch(() => {})
    }
  }
  inBackground('database', keep())
  return clock
}

/** The clock of a command that ends soon: the database is asked once. */
export async function databaseClockOf({ pool }: Pick<Store, 'pool'>, machine: Clock): Promise<Clock> {
  const clock = new DatabaseClock(machine)
  clock.set(await askOver(pool, machine))
  return clock
}

/** The database's time now. */
export async function databaseTime(connection: Pick<ClientBase, 'query'>): Promise<Date> {
  return new Date(await databaseMs(connection))
}

async function databaseMs(connection: Pick<ClientBase, 'query'>): Promise<number> {
  const { rows } = await connection.query<{ ms: number }>(DATABASE_TIME)
  const [row] = rows
  if (row === undefined) throw new Error('The database does not say what time it is')
  return row.ms
}

async function askOver(connection: Pick<ClientBase, 'query'>, machine: Clock): Promise<TimeAsked> {
  const askedAtMs = machine.monotonicMs()
  return { databaseMs: await databaseMs(connection), askedAtMs, answeredAtMs: machine.monotonicMs() }
}

async function askTime(databaseUrl: string, machine: Clock): Promise<TimeAsked> {
  const client = postgresClient(databaseUrl, { connectTimeoutMs: ASK_TIMEOUT_MS })
  client.on('error', () => {})
  const ask = async (): Promise<TimeAsked> => {
    await client.connect()
    const asked = await askOver(client, machine)
    await client.end()
    return asked
  }
  try {
    return await endedBy(ask(), signalWithin(ASK_TIMEOUT_MS))
  } catch (error) {
    client.connection.stream.destroy()
    throw error
  }
}

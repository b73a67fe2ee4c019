import pg from 'pg'
import { boundary, inBackground } from '../../runtime/lib/async/boundary.ts'
import { endsPostgresConnection } from './outage.ts'
import { PostgresProbe } from './postgres-probe.ts'
import { ALIVE_TIMEOUT_MS, ANSWER_TIMEOUT_MS, HEARTBEAT_MS } from './redial.ts'

interface HealingPool {
  readonly pool: pg.Pool
  /** Says over a connection of its own what is wrong with the database; undefined: it takes writes. */
  readonly probe: PostgresProbe
}

/**
 * A pool that drops connections which are of no use: all of them where the server says that it is read-only or stops, for another one
 * is behind the address, or will be; and those that wait for an answer that was lost.
 */
export function healingPool(config: pg.PoolConfig & { connectionString: string }, settings: string): HealingPool {
  const probe = new PostgresProbe(config.connectionString)
  const pool = new pg.Pool({
    ...config,
    // Not parameters of the connection's start, which poolers refuse.
    verify: (client, done) => {
      client.query(settings).then(() => done(), done)
    },
  })
  const keeper = new ConnectionKeeper(pool, probe)
  pool.on(
    'connect',
    boundary('database', (client) => keeper.add(client as pg.PoolClient)),
  )
  pool.on('acquire', boundary('database', keeper.lent))
  pool.on(
    'release',
    boundary('database', (_, client) => keeper.returned(client)),
  )
  pool.on('remove', boundary('database', keeper.gone))
  return { pool, probe }
}

interface Kept {
  /** Since when somebody has it. */
  lentAtMs: number | undefined
  /** When the server last said something on it. */
  heardAtMs: number
  isStale: boolean
}

class ConnectionKeeper {
  readonly #pool: pg.Pool
  readonly #probe: PostgresProbe
  readonly #kept = new Map<pg.PoolClient, Kept>()
  #watch: NodeJS.Timeout | undefined

  constructor(pool: pg.Pool, probe: PostgresProbe) {
    this.#pool = pool
    this.#probe = probe
  }

  add(client: pg.PoolClient): void {
    const kept: Kept = { lentAtMs: undefined, heardAtMs: performance.now(), isStale: false }
    this.#kept.set(client, kept)
    client.connection.stream.on(
      'data',
      boundary('database', () => {
        kept.heardAtMs = performance.now()
      }),
    )
    // A connection may break while a transaction holds it and asks nothing: its next query says so.
    client.on('error', () => {})
    client.connection.on(
      'errorMessage',
      boundary('database', ({ code }: { code?: string }) => {
        if (endsPostgresConnection(code)) this.#endAll()
      }),
    )
  }

  readonly lent = (client: pg.PoolClient): void => {
    const kept = this.#kept.get(client)
    if (kept !== undefined) kept.lentAtMs = performance.now()
    this.#watchLater()
  }

  readonly returned = (client: pg.PoolClient): void => {
    const kept = this.#kept.get(client)
    if (kept === undefined) return
    kept.lentAtMs = undefined
    // The pool keeps none that ends.
    if (kept.isStale) inBackground('database', client.end())
  }

  readonly gone = (client: pg.PoolClient): void => {
    this.#kept.delete(client)
  }

  /** All lead to the same server. Those in use end when they are given back. */
  #endAll(): void {
    for (const kept of this.#kept.values()) kept.isStale = true
    for (let idle = this.#pool.idleCount; idle > 0; idle--) {
      this.#pool.connect().then(
        (client) => client.release(),
        () => {},
      )
    }
  }

  /** Looks after connections that are lent for long, while there are such. */
  #watchLater(): void {
    this.#watch ??= setTimeout(
      boundary('database', () => {
        this.#watch = undefined
        inBackground('database', this.#look())
      }),
      HEARTBEAT_MS,
    ).unref()
  }

  /**
   * A statement that takes long is told from one whose answer was lost by the server, which knows what it works on. Behind a pooler it does
   * not know; there the connections count as silent on which nothing was heard since the probe had to give up one of its own.
   */
  async #look(): Promise<void> {
    if (![...this.#kept.values()].some(({ lentAtMs }) => lentAtMs !== undefined)) return
    if ([...this.#kept.values()].some((kept) => waitedMs(kept) > HEARTBEAT_MS)) {
      const fault = await this.#probe.fault()
      const { silentAtMs } = this.#probe
      if (silentAtMs !== undefined) this.#dropIdle(silentAtMs)
      if (fault === undefined) await this.#dropLost(silentAtMs)
    }
    this.#watchLater()
  }

  /** Drops the connections that nobody has and on which nothing was heard since. */
  #dropIdle(sinceMs: number): void {
    for (const [client, { lentAtMs, heardAtMs }] of this.#kept) {
      if (lentAtMs === undefined && heardAtMs <= sinceMs) drop(client)
    }
  }

  async #dropLost(silentAtMs: number | undefined): Promise<void> {
    const waiting = [...this.#kept].filter(([, kept]) => waitedMs(kept) > ALIVE_TIMEOUT_MS)
    if (waiting.length === 0) return
    const isAtWork = await this.#probe.work()
    if (isAtWork === undefined) return
    for (const [client, kept] of waiting) {
      const waited = waitedMs(kept)
      if (this.#kept.get(client) !== kept || waited <= ALIVE_TIMEOUT_MS) continue
      const { processID, readyForQuery } = client as pg.PoolClient & { processID?: number; readyForQuery?: boolean }
      // Somebody has it, and asks nothing.
      if (readyForQuery === true) continue
      const works = isAtWork(processID)
      const isSilent = silentAtMs !== undefined && kept.heardAtMs <= silentAtMs && waited > ANSWER_TIMEOUT_MS
      if (works === true || (works === undefined && !isSilent)) continue
      this.#dropIdle(performance.now() - waited)
      drop(client)
    }
  }
}

/** How long somebody has waited for the server to say something; 0: nobody does. */
function waitedMs({ lentAtMs, heardAtMs }: Kept): number {
  return lentAtMs === undefined ? 0 : performance.now() - Math.max(lentAtMs, heardAtMs)
}

function drop(client: pg.PoolClient): void {
  client.connection.stream.destroy(new Error('Connection terminated: PostgreSQL did not answer on it'))
}

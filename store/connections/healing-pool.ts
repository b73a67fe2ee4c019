import pg from 'pg'
import { boundary, inBackground } from '../../runtime/lib/async/boundary.ts'
import { endsPostgresConnection } from './outage.ts'
import { PostgresProbe } from './postgres-probe.ts'
import { ANSWER_TIMEOUT_MS, HEARTBEAT_MS } from './redial.ts'

export interface HealingPool {
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
    this.#kept.set(client, { lentAtMs: undefined, isStale: false })
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
   * A query that takes long is told from one whose answer is lost by the probe: where that one had to give up a silent connection and
   * the next one answered, those lent since before are silent for good.
   */
  async #look(): Promise<void> {
    const lent = [...this.#kept].filter(([, { lentAtMs }]) => lentAtMs !== undefined)
    if (lent.length === 0) return
    const nowMs = performance.now()
    if (lent.some(([, { lentAtMs = nowMs }]) => nowMs - lentAtMs > ANSWER_TIMEOUT_MS)) {
      await this.#probe.fault()
      const { silentAtMs } = this.#probe
      for (const [client, { lentAtMs = nowMs }] of lent) {
        if (silentAtMs === undefined || lentAtMs > silentAtMs || this.#kept.get(client)?.lentAtMs !== lentAtMs) continue
        client.connection.stream.destroy(new Error('Connection terminated: PostgreSQL did not answer on it'))
      }
    }
    this.#watchLater()
  }
}

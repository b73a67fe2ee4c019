import type { PostgresPool } from 'kysely'
import type { Pool, PoolClient } from 'pg'
import { AdmissionGate } from '../../runtime/admission/gate.ts'
import { countRefusal } from '../../runtime/admission/refusals.ts'

/** Connections left to what is of no workspace: who asks, which calls are over, what is to be sent. */
const RESERVED = 2
/** A workspace idle for this long is dropped. */
const ABOUT_MS = 10_000

/**
 * The connections of a pool in turns by workspace: one that asks much holds half of them at most, a quarter while others are about,
 * and waits for its own. So who works in a transaction asks for no second connection.
 * Queries wait here, not in Postgres, where each would take its share of the processors from all others.
 * @param mostAtOnce connections of all workspaces that are lent at once, where these are fewer than the pool could lend them
 * @param acquireTimeoutMs a wait that is longer fails as that of the pool does
 */
export function turnPools(
  pool: Pool,
  options: { connections: number; mostAtOnce: number; acquireTimeoutMs: number },
): (workspaceId: string) => PostgresPool {
  const { connections, mostAtOnce, acquireTimeoutMs } = options
  const places = Math.max(1, Math.min(connections - RESERVED, mostAtOnce))
  const mostOfOne = Math.max(1, Math.floor(places / 2))
  const gate = new AdmissionGate({
    kind: 'database',
    places,
    mostOfOne,
    // With a query of another's on each processor, every query would have to wait for its turns.
    besideOthers: {
      mostOfOne: Math.max(1, Math.floor(places / 4)),
      withinMs: ABOUT_MS,
      monotonicMs: () => performance.now(),
    },
    maxWaiting: Number.POSITIVE_INFINITY,
  })
  return (workspaceId) => ({
    options: pool.options,
    async connect(): Promise<PoolClient> {
      const place = { workspaceId }
      const leave = gate.tryEnter(place) ?? (await waited(gate.enter(place, AbortSignal.timeout(acquireTimeoutMs))))
      const client = await pool.connect().catch((error) => {
        leave()
        throw error
      })
      // The pool gives a client another one each time it lends it.
      const { release } = client
      client.release = (...how) => {
        leave()
        release(...how)
      }
      return client
    },
    // The pool belongs to the store, which ends it.
    end: async () => {},
  })
}

/** The words by which the store knows a pool that has no connection in time. */
async function waited<T>(entering: Promise<T>): Promise<T> {
  try {
    return await entering
  } catch (cause) {
    countRefusal('database', 'waited_too_long')
    throw new Error('timeout exceeded when trying to connect', { cause })
  }
}

import { PatchbayError } from '../../runtime/lib/errors.ts'
import { postgresClient } from './postgres-client.ts'

const ROUNDS = 3
/** A pool of a single connection lets the second client wait for the first. */
const ANSWER_TIMEOUT_MS = 5_000
const PID = 'select pg_backend_pid() as pid'

const REASON =
  'The pooler of DATABASE_URL lends a connection to PostgreSQL for a transaction only (transaction pooling), and Patchbay keeps prepared ' +
  'statements, locks and limits on its connections: it needs session pooling. PgBouncer: pool_mode = session for this database; Supabase: the ' +
  'session pooler (port 5432); Neon: the address without "-pooler"; DigitalOcean: a pool in session mode; or connect to PostgreSQL itself. ' +
  'Nothing was changed in the database.'

/**
 * Throws `configuration` where a pooler gives each transaction another connection. Told by the backend that serves a client: it is the
 * client's own for as long as that is connected, and nobody else's.
 */
export async function requireSessionPooling(databaseUrl: string): Promise<void> {
  const [one, other] = [postgresClient(databaseUrl), postgresClient(databaseUrl)]
  for (const client of [one, other]) client.on('error', () => {})
  const pidOf = async (client: typeof one): Promise<number> => {
    const { rows } = await client.query<{ pid: number }>({ text: PID, query_timeout: ANSWER_TIMEOUT_MS } as {
      text: string
    })
    return rows[0]?.pid ?? 0
  }
  try {
    await one.connect()
    await other.connect()
    const own = await pidOf(one)
    for (let round = 0; round < ROUNDS; round++) {
      await other.query('begin')
      const lent = await pidOf(other)
      const now = await pidOf(one)
      await other.query('rollback')
      if (lent === own || now !== own) throw new PatchbayError('configuration', { params: { reason: REASON } })
    }
  } finally {
    for (const client of [one, other]) client.connection.stream.destroy()
  }
}

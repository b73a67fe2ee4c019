import type { Client } from 'pg'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { postgresClient } from '../connections/postgres-client.ts'

const CONNECT_TIMEOUT_MS = 10_000
/** Of PostgreSQL, as `server_version_num` has it: what the schema needs, and the tests run on. */
const LEAST_VERSION = 150_000

/** A connection of a copy. Throws `configuration` with the cure where the server can't be reached or is too old. */
export async function openClient(databaseUrl: string, what: string): Promise<Client> {
  const client = postgresClient(databaseUrl, { connectTimeoutMs: CONNECT_TIMEOUT_MS })
  // A lost connection fails the statement that runs.
  client.on('error', () => {})
  try {
    await client.connect()
  } catch (cause) {
    await client.end().catch(() => {})
    const detail = cause instanceof Error ? cause.message || (cause as NodeJS.ErrnoException).code : String(cause)
    const reason = `${what} can't be reached (${detail}); start it or correct its address.`
    throw new PatchbayError('configuration', { params: { reason }, cause })
  }
  const { rows } = await client.query<{ version: number; name: string }>(
    `select current_setting('server_version_num')::int as version, current_setting('server_version') as name`,
  )
  const [found] = rows
  if (found !== undefined && found.version < LEAST_VERSION) {
    await client.end()
    const reason = `${what} is PostgreSQL ${found.name}; Patchbay needs 15 or newer.`
    throw new PatchbayError('configuration', { params: { reason } })
  }
  return client
}

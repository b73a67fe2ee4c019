import { readFile } from 'node:fs/promises'
import pg from 'pg'
import { CONNECT_TIMEOUT_MS } from './redial.ts'

/** The parameter of an address that names a file with the password. */
const PASSWORD_FILE = 'passwordfile'

/** A connection whose password may stand in a file, read when the server asks for it: it may have been rotated. */
class PasswordFileClient extends pg.Client {
  constructor(config: pg.ClientConfig = {}) {
    super(config)
    const file = passwordFileOf(config.connectionString ?? '')
    if (file !== undefined) {
      Object.assign(this, { password: async () => (await readFile(file, 'utf8')).trim() })
    }
  }
}

/** How every connection to the database of this address is made; for a pool or `postgresClient`. */
export function postgresConfig(databaseUrl: string): pg.PoolConfig {
  return {
    connectionString: databaseUrl,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    Client: PasswordFileClient,
  }
}

/** A connection of one's own, not yet open. */
export function postgresClient(
  databaseUrl: string,
  options: { connectTimeoutMs?: number; name?: string } = {},
): pg.Client {
  const { Client: _, ...config } = postgresConfig(databaseUrl)
  const { connectTimeoutMs, name } = options
  return new PasswordFileClient({
    ...config,
    ...(name !== undefined && { application_name: name }),
    ...(connectTimeoutMs !== undefined && { connectionTimeoutMillis: connectTimeoutMs }),
  })
}

/** How long a statement of this connection may take; set by a statement, because poolers refuse it as a parameter of the start. */
export async function limitStatements(client: pg.Client, timeoutMs: number): Promise<void> {
  await client.query(`set statement_timeout = ${timeoutMs}`)
}

function passwordFileOf(databaseUrl: string): string | undefined {
  const query = databaseUrl.split('?').slice(1).join('?')
  return new URLSearchParams(query).get(PASSWORD_FILE) ?? undefined
}

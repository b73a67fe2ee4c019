import { Client } from 'pg'

/** Any number, the same in every version. */
const LOCK_KEY = 7_242_822_912

/** Does the work unless another process does it, which then is not repeated here. */
export async function withBackupLock(databaseUrl: string, work: () => Promise<void>): Promise<void> {
  const client = new Client({ connectionString: databaseUrl })
  // The lock is lost with the connection, and the work goes on: at worst two backups are made.
  client.on('error', () => {})
  await client.connect()
  try {
    const { rows } = await client.query<{ locked: boolean }>('select pg_try_advisory_lock($1) as locked', [LOCK_KEY])
    if (rows[0]?.locked === true) await work()
  } finally {
    await client.end().catch(() => {})
  }
}

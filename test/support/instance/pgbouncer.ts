import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { freePort } from '../../../scripts/demo/free-port.ts'
import { startFaultProxy } from '../world/fault-proxy.ts'
import { type Teardown, testDatabase } from './services.ts'

/** Why a test that needs it is left out; false where it is there. */
export const pgbouncerMissing =
  spawnSync('pgbouncer', ['--version']).status === 0 ? (false as const) : 'needs pgbouncer: apt-get install pgbouncer'

export interface PgBouncer {
  /** Of the database through the pooler. */
  readonly url: string
  /** Of the same database past it. */
  readonly directUrl: string
  /** Changes the password that clients have to know. */
  rotate(password: string): Promise<void>
}

/** PgBouncer as Debian has it, without ignored parameters, in front of a database of its own. Ended with the test. */
export async function startPgBouncer(
  t: Teardown,
  options: { mode: 'session' | 'transaction'; database?: string; ignore?: string },
): Promise<PgBouncer> {
  const directUrl = options.database ?? (await testDatabase(t))
  const direct = new URL(directUrl)
  // Its user reads the file of passwords again, and can't enter the tests' folders.
  const folder = await mkdtemp(join(tmpdir(), 'patchbay-pgbouncer-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const port = await freePort()
  // The socket of the tests' PostgreSQL is of another user.
  const proxy = await startFaultProxy(t, { path: `${direct.searchParams.get('host')}/.s.PGSQL.5432` })
  const name = direct.pathname.slice(1)
  const users = (password: string) => writeFile(join(folder, 'users.txt'), `"pooled" "${password}"\n`)
  await users('first')
  await writeFile(
    join(folder, 'pgbouncer.ini'),
    `[databases]
${name} = host=127.0.0.1 port=${proxy.port} dbname=${name} user=${direct.username} password=${direct.password || 'none'}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = plain
auth_file = ${join(folder, 'users.txt')}
pool_mode = ${options.mode}
default_pool_size = 40
max_client_conn = 200
${options.ignore === undefined ? '' : `ignore_startup_parameters = ${options.ignore}`}
`,
  )
  await chmod(folder, 0o755)
  // It refuses to run as root, and its own user can't reach what is the tests'.
  const user = process.getuid?.() === 0 ? ['-u', 'postgres'] : []
  const child = spawn('pgbouncer', [...user, join(folder, 'pgbouncer.ini')], { stdio: ['ignore', 'pipe', 'pipe'] })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (printed += String(text)))
  t.teardown(async () => {
    if (child.exitCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  const url = `postgres://pooled:first@127.0.0.1:${port}/${name}`
  for (let tries = 0; !(await answers(url)); tries++) {
    if (tries > 100 || child.exitCode !== null) throw new Error(`pgbouncer did not start: ${printed}`)
    await sleep(50)
  }
  return {
    url,
    directUrl,
    async rotate(password) {
      await users(password)
      child.kill('SIGHUP')
      // It reads the file some time later.
      while (await answers(url)) await sleep(50)
    },
  }
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 })
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query('select 1')
    return true
  } catch {
    return false
  } finally {
    await client.end().catch(() => {})
  }
}

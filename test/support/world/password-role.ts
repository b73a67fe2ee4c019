import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import pg from 'pg'
import { adminUrl } from '../../../store/embedded/own-database.ts'

/** Roles of such names have to show their password, on a server that asks nobody else for one. */
const PREFIX = 'with_password_'
const RULE = `local all /^${PREFIX} scram-sha-256\n`

/** The superuser of the server of an embedded or a test's database. */
export async function connectAdmin(databaseUrl: string): Promise<pg.Client> {
  const url = new URL(databaseUrl)
  const admin = new pg.Client({ connectionString: adminUrl(url.searchParams.get('host') ?? '', url.pathname.slice(1)) })
  await admin.connect()
  return admin
}

/** A name for a role that has to show its password. */
export async function passwordRoleName(admin: pg.Client): Promise<string> {
  const { rows } = await admin.query<{ file: string }>(
    `select current_setting('hba_file') as file, pg_advisory_lock(3) as locked`,
  )
  const file = rows[0]?.file ?? ''
  const rules = await readFile(file, 'utf8')
  if (!rules.startsWith(RULE)) await writeFile(file, `${RULE}${rules}`)
  await admin.query('select pg_reload_conf(), pg_advisory_unlock(3)')
  return `${PREFIX}${randomBytes(4).toString('hex')}`
}

/** Makes a role that acts as the database's owner and has to show its password. */
export async function makePasswordRole(admin: pg.Client, owner: string, password: string): Promise<string> {
  const name = await passwordRoleName(admin)
  await admin.query(`create role ${name} login password '${password}' in role ${owner}`)
  await admin.query(`alter role ${name} set role = '${owner}'`)
  return name
}

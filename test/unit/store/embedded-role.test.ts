import { join } from 'node:path'
import { Client } from 'pg'
import t from 'tap'
import { createLogger } from '../../../runtime/process/log.ts'
import { migrate } from '../../../store/database/migrate.ts'
import { type EmbeddedServices, startEmbedded } from '../../../store/embedded/embedded.ts'
import { adminUrl } from '../../../store/embedded/own-database.ts'
import { type Teardown, testFolder } from '../../support/instance/services.ts'

const log = createLogger({ level: 'silent', name: 'test' })
const STOP_MS = 20_000

async function start(t: Teardown, dataDir: string): Promise<EmbeddedServices> {
  const options = { dataDir, log, searchPath: process.env.PATH, postgres: true, redis: false }
  const services = await startEmbedded(options)
  t.teardown(() => services.stop(STOP_MS))
  return services
}

async function query(url: string, ...statements: string[]): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    let rows: Record<string, unknown>[] = []
    for (const statement of statements) ({ rows } = await client.query(statement))
    return rows
  } finally {
    await client.end()
  }
}

/** The superuser's address of the product's database. */
const asAdmin = ({ databaseUrl = '' }: EmbeddedServices): string =>
  adminUrl(new URL(databaseUrl).searchParams.get('host') ?? '', 'patchbay')

/** What of the schema the product does not own; the parts of an extension belong to the extension. */
const STRANGERS = `
  with parts as (select objid from pg_depend where deptype = 'e')
  select relname as name from pg_class where relnamespace = 'public'::regnamespace and relowner <> 'patchbay_app'::regrole
  union all select proname from pg_proc where pronamespace = 'public'::regnamespace and proowner <> 'patchbay_app'::regrole
    and oid not in (select objid from parts)
  union all select typname from pg_type where typnamespace = 'public'::regnamespace and typowner <> 'patchbay_app'::regrole
    and oid not in (select objid from parts)`

t.test('the role the product connects as owns its database and is no superuser', async (t) => {
  const services = await start(t, join(await testFolder(t), 'data'))
  const url = services.databaseUrl ?? ''
  await migrate(url, log)
  t.same(
    await query(
      url,
      `select rolname::text as name, rolsuper, rolcreaterole, rolcreatedb, rolreplication, rolbypassrls,
         (select count(*)::int from pg_auth_members where member = r.oid) as groups
       from pg_roles r where rolname = current_user`,
    ),
    [
      {
        name: 'patchbay_app',
        rolsuper: false,
        rolcreaterole: false,
        rolcreatedb: false,
        rolreplication: false,
        rolbypassrls: false,
        groups: 0,
      },
    ],
  )
  const denied = { code: '42501' }
  await t.rejects(query(url, `copy (select 1) to program 'true'`), denied)
  await t.rejects(query(url, `select pg_read_file('/etc/passwd')`), denied)
  await t.rejects(query(url, `set role patchbay`), denied)
  await t.rejects(query(url, `create extension "pg_stat_statements"`))
})

t.test('a data folder of an older version, whose database is its superuser’s, is handed over', async (t) => {
  const dataDir = join(await testFolder(t), 'data')
  const before = await start(t, dataDir)
  const admin = asAdmin(before)
  await migrate(admin, log)
  await query(
    admin,
    'alter database patchbay owner to patchbay',
    'create schema apart',
    `create type apart.mood as enum ('fine')`,
    'create domain short as text check (length(value) < 5)',
    'create table serials (n serial primary key, i int generated always as identity, m apart.mood)',
    'create view seen as select * from serials',
    'create procedure nothing() language sql as $$ select 1 $$',
  )
  t.ok((await query(admin, STRANGERS)).length > 50)
  await before.stop(STOP_MS)

  const after = await start(t, dataDir)
  const url = after.databaseUrl ?? ''
  t.same(await query(url, STRANGERS), [])
  t.same(await migrate(url, log), [], 'its schema is known')
  await query(url, 'insert into serials (m) values (null)', 'alter table serials add column later int')
  await query(url, 'drop view seen', 'drop table serials', 'drop schema apart cascade', 'drop domain short')
  await after.stop(STOP_MS)
  t.ok(await start(t, dataDir), 'and the next start finds nothing to do')
})

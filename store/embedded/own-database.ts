import { Client } from 'pg'

const CONNECT_TIMEOUT_MS = 10_000
/** The superuser initdb makes. It hands the database over and does nothing else: SQL of the product never runs as it. */
export const ADMIN = 'patchbay'
/** The role the product connects as: owner of its database, without any right beyond it. */
const APP = 'patchbay_app'
const DATABASE = 'patchbay'
/** The ports of PostgreSQL's sockets are part of their names; any would do. */
const addressOf = (role: string, runDir: string, database: string): string =>
  `postgres://${role}@localhost/${database}?host=${encodeURIComponent(runDir)}`

/** The address of the private database; connections to it need no password, entering `runDir` is the right. */
export const postgresUrl = (runDir: string): string => addressOf(APP, runDir, DATABASE)

/** The same server as its superuser, for tests that make databases. */
export const adminUrl = (runDir: string, database = 'postgres'): string => addressOf(ADMIN, runDir, database)

/** Makes the role and its database where they are missing, and gives it what an older version made as superuser. */
export async function prepareDatabase(runDir: string): Promise<void> {
  await asAdmin(runDir, 'postgres', async (client) => {
    const role = await client.query('select from pg_roles where rolname = $1', [APP])
    if (role.rowCount === 0) await client.query(`create role ${APP} login`)
    const found = await client.query<{ owner: string }>(
      'select pg_get_userbyid(datdba) as owner from pg_database where datname = $1',
      [DATABASE],
    )
    const owner = found.rows[0]?.owner
    if (owner === undefined) await client.query(`create database ${DATABASE} owner ${APP}`)
    else if (owner !== APP) await client.query(`alter database ${DATABASE} owner to ${APP}`)
  })
  await asAdmin(runDir, DATABASE, handOver)
}

/**
 * What the superuser owns in the database, as statements that give it away: `reassign owned` refuses for the role of initdb.
 * Indexes and the sequences of columns go with their tables; what an extension made stays with it.
 */
const HAND_OVER = `
  with admins as (select oid from pg_roles where rolname = $1),
  ours as (
    select n.oid, n.nspname, n.nspowner from pg_namespace n
    where n.nspname <> 'information_schema' and n.nspname not like 'pg\\_%'),
  statements as (
    select 0 as rank, format('alter schema %I owner to ${APP}', nspname) as statement
      from ours join admins on admins.oid = nspowner
    union all
    select 1, format('alter %s %s owner to ${APP}',
        case relkind when 'S' then 'sequence' when 'v' then 'view' when 'm' then 'materialized view' else 'table' end,
        c.oid::regclass)
      from pg_class c join ours on ours.oid = c.relnamespace join admins on admins.oid = c.relowner
      where c.relkind in ('r', 'p', 'S', 'v', 'm')
        and not exists (select from pg_depend d
          where d.classid = 'pg_class'::regclass and d.objid = c.oid
            and (d.deptype = 'e' or c.relkind = 'S' and d.deptype in ('a', 'i')))
    union all
    select 2, format('alter routine %s owner to ${APP}', p.oid::regprocedure)
      from pg_proc p join ours on ours.oid = p.pronamespace join admins on admins.oid = p.proowner
      where not exists (select from pg_depend d
        where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')
    union all
    select 3, format('alter type %s owner to ${APP}', t.oid::regtype)
      from pg_type t join ours on ours.oid = t.typnamespace join admins on admins.oid = t.typowner
      where t.typtype in ('e', 'd')
        and not exists (select from pg_depend d
          where d.classid = 'pg_type'::regclass and d.objid = t.oid and d.deptype = 'e'))
  select statement from statements order by rank, statement`

async function handOver(client: Client): Promise<void> {
  const { rows } = await client.query<{ statement: string }>(HAND_OVER, [ADMIN])
  if (rows.length === 0) return
  // All or nothing: a start that is cut short finds everything as it was.
  await client.query('begin')
  for (const { statement } of rows) await client.query(statement)
  await client.query('commit')
}

async function asAdmin(runDir: string, database: string, work: (client: Client) => Promise<void>): Promise<void> {
  const connectionString = adminUrl(runDir, database)
  const client = new Client({ connectionString, connectionTimeoutMillis: CONNECT_TIMEOUT_MS })
  client.on('error', () => {})
  try {
    await client.connect()
    await work(client)
  } finally {
    await client.end().catch(() => {})
  }
}

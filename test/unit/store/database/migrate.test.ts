import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client, Pool } from 'pg'
import t, { type Test } from 'tap'
import { createLogger } from '../../../../runtime/process/log.ts'
import { diagnoseDatabase } from '../../../../store/database/extension.ts'
import { describePlan, migrate } from '../../../../store/database/migrate.ts'
import { planMigration } from '../../../../store/database/migration-plan.ts'
import { MIGRATIONS } from '../../../../store/migrations/index.ts'
import { emptyDatabase, testDatabase } from '../../../support/instance/services.ts'

const log = createLogger({ level: 'silent', name: 'test' })

async function query<Row>(databaseUrl: string, sql: string): Promise<Row[]> {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    return (await client.query(sql)).rows as Row[]
  } finally {
    await client.end()
  }
}

t.test('an empty database gets every migration once, in order', async (t) => {
  const url = await emptyDatabase(t)
  t.same(
    await migrate(url, log),
    MIGRATIONS.map(({ name }) => name),
  )
  t.same(await migrate(url, log), [])
})

t.test('processes that start together migrate one after the other', async (t) => {
  const url = await emptyDatabase(t)
  const applied = await Promise.all(Array.from({ length: 5 }, () => migrate(url, log)))
  t.equal(applied.flat().length, MIGRATIONS.length)
})

t.test('a failing migration is rolled back and those before it stay', async (t) => {
  const url = await emptyDatabase(t)
  const migrations = [
    { name: '0001-good', sql: 'create table good (id integer)' },
    { name: '0002-bad', sql: 'create table half (id integer); create table good (id integer)' },
  ]
  await t.rejects(migrate(url, log, migrations), { message: /"0002-bad" failed/ })
  t.same(await query(url, 'select name from migrations'), [{ name: '0001-good' }])
  t.same(await query(url, `select to_regclass('half') as half`), [{ half: null }])
})

t.test('an older version runs on a newer database, unless that took away what it needs', async (t) => {
  const url = await testDatabase(t)
  const added = { name: '9997-added', sql: 'alter table calls add column later integer' }
  const expanded = [...MIGRATIONS, added, { name: '9998-used', sql: 'create table later (id integer)' }]
  t.same(await migrate(url, log, expanded), ['9997-added', '9998-used'])
  t.same(await migrate(url, log), [], 'one that knows neither runs beside it')
  const contracted = [
    ...expanded,
    { name: '9999-removed', sql: 'alter table calls drop column note', needs: '9998-used' },
  ]
  await query(url, 'alter table calls add column note text')
  t.same(await migrate(url, log, contracted), ['9999-removed'])
  t.same(await migrate(url, log, expanded), [], 'the version before the removal knows what it needs')
  const { version } = JSON.parse(await readFile('package.json', 'utf8'))
  const reason = `newer Patchbay ${version} \\(it has "9997-added", "9998-used", "9999-removed", of which "9999-removed" needs a version that knows "9998-used"; this is`
  await t.rejects(
    migrate(url, log),
    { code: 'configuration', message: new RegExp(reason) },
    'two versions before it does not',
  )
})

t.test('a database whose list of migrations is an old one gets its new columns', async (t) => {
  const url = await testDatabase(t)
  await query(url, 'alter table migrations drop column needs, drop column version')
  t.match(await describePlan(url, log), /up to date/)
  t.same(await migrate(url, log), [])
  t.same(await query(url, 'select distinct needs, version from migrations'), [{ needs: null, version: null }])
})

/** Rows that stay locked by a reader until `end`. */
async function reading(t: Test, url: string, table = 'calls') {
  const client = new Client({ connectionString: url, application_name: 'report' })
  await client.connect()
  t.teardown(() => client.end().catch(() => {}))
  await client.query(`begin; select count(*) from ${table}`)
  return { pid: (client as Client & { processID: number }).processID, end: () => client.end() }
}

t.test(
  'a migration behind a long reader holds nobody up, says whom it waits for, and is applied afterwards',
  async (t) => {
    const url = await testDatabase(t)
    const reader = await reading(t, url)
    const lines: string[] = []
    const destination = { write: (line: string) => void lines.push(line) }
    const heard = createLogger({ level: 'warn', name: 'test', destination })
    const added = { name: '9999-added', sql: 'alter table calls add column later integer' }
    const applied = migrate(url, heard, [...MIGRATIONS, added], { lockTimeoutMs: 1_500, pauseMs: 500 })
    const waits: number[] = []
    for (const until = performance.now() + 6_000; performance.now() < until; await sleep(50)) {
      const startedMs = performance.now()
      await query(url, 'select count(*) from calls')
      waits.push(performance.now() - startedMs)
    }
    const longest = Math.max(...waits)
    t.ok(longest > 500, 'it did ask for the lock')
    t.ok(longest < 3_000, `others waited ${Math.round(longest)} ms at most`)
    await reader.end()
    t.same(await applied, ['9999-added'])
    const said = lines.map((line) => JSON.parse(line).msg as string)
    t.ok(
      said.some((line) =>
        new RegExp(
          `^Migration "9999-added" waits for pid ${reader.pid} \\(report, in a transaction for \\d+ s: .*select count`,
        ).test(line),
      ),
      said.join('\n'),
    )
  },
)

t.test('a migration of several tables lets go of the first while another one is not to be had', async (t) => {
  const url = await testDatabase(t)
  const { end } = await reading(t, url, 'campaigns')
  let isOver = false
  const shortReaders = (async () => {
    while (!isOver) {
      const short = await reading(t, url)
      await sleep(2_500)
      await short.end()
    }
  })()
  const sql = 'alter table calls add column later integer; alter table campaigns add column later integer'
  const options = { lockTimeoutMs: 3_000, pauseMs: 500 }
  const applied = migrate(url, log, [...MIGRATIONS, { name: '9999-added', sql }], options)
  const waits: number[] = []
  for (const until = performance.now() + 10_000; performance.now() < until; await sleep(50)) {
    const startedMs = performance.now()
    await query(url, 'select count(*) from calls')
    waits.push(performance.now() - startedMs)
  }
  isOver = true
  await shortReaders
  await end()
  t.same(await applied, ['9999-added'])
  const longest = Math.max(...waits)
  t.ok(longest > 500, 'it did ask for the lock')
  t.ok(longest < 4_200, `others waited ${Math.round(longest)} ms at most`)
})

t.test('a migration that gets no lock gives up with who holds it', async (t) => {
  const url = await testDatabase(t)
  const { pid } = await reading(t, url)
  const added = { name: '9999-added', sql: 'alter table calls add column later integer' }
  await t.rejects(migrate(url, log, [...MIGRATIONS, added], { lockTimeoutMs: 1_500, pauseMs: 100, giveUpMs: 3_000 }), {
    code: 'configuration',
    message: new RegExp(`"9999-added" got no lock for 0 min \\(it waited for pid ${pid}\\); end what holds it`),
  })
  t.same(await query(url, `select from migrations where name = '9999-added'`), [])
})

t.test(
  'an index of a big table is built beside the traffic, by one of many processes, and again when it was left half made',
  async (t) => {
    const url = await testDatabase(t)
    await query(url, 'create table big as select n from generate_series(1, 1000) n')
    // What a process that was killed while it built it leaves.
    await query(url, 'insert into big values (1)')
    await t.rejects(query(url, 'create unique index concurrently big_n on big (n)'), { code: '23505' })
    await query(url, 'create index big_old on big (n)')
    const writer = new Client({ connectionString: url })
    await writer.connect()
    t.teardown(() => writer.end())
    await writer.query('begin; insert into big values (0)')
    const indexed = { name: '9999-indexed', indexes: [{ name: 'big_n', on: 'big (n)' }], dropped: ['big_old'] }
    const all = [...MIGRATIONS, indexed]
    const applied = Promise.all([migrate(url, log, all), migrate(url, log, all), migrate(url, log, all)])
    await sleep(1_500)
    await query(url, 'insert into big values (1)')
    t.same(await query(url, `select from migrations where name = '9999-indexed'`), [], 'it waits for the writer')
    await writer.query('commit')
    t.same((await applied).flat(), ['9999-indexed'])
    const rows = await query(
      url,
      `select relname, indisvalid from pg_index join pg_class on oid = indexrelid where indrelid = 'big'::regclass`,
    )
    t.same(rows, [{ relname: 'big_n', indisvalid: true }])
  },
)

t.test('an index whose extension may not be made is left out, said, and built by a later start', async (t) => {
  const url = await emptyDatabase(t)
  const name = new URL(url).pathname.slice(1)
  const indexes = `select indisvalid from pg_index where indexrelid = to_regclass('calls_by_number_part')`
  const lines: string[] = []
  const destination = { write: (line: string) => void lines.push(JSON.parse(line).msg) }
  const heard = createLogger({ level: 'warn', name: 'test', destination })
  const pool = new Pool({ connectionString: url })
  t.teardown(() => pool.end())
  await query(url, `revoke create on database ${name} from current_user`)
  const applied = await migrate(url, heard)
  t.notOk(applied.includes('0134-parts-of-numbers'))
  t.equal(applied.length, MIGRATIONS.length - 1, 'all others are applied')
  t.match(
    lines.join('\n'),
    /part of a phone number reads every call: .* "pg_trgm" \(permission denied .*CREATE EXTENSION/,
  )
  t.same(await query(url, indexes), [])
  t.match(await diagnoseDatabase({ pool }), [{ ok: false, text: /CREATE EXTENSION pg_trgm/ }])
  t.same(await migrate(url, log), [], 'it is no fault of the next start')
  t.match(await describePlan(url, log), /0134-parts-of-numbers \(only with the extension "pg_trgm"\)/)
  // Extensions may lie in a schema of their own, as hosting companies have it.
  await query(url, `grant create on database ${name} to current_user`)
  await query(url, 'create schema extensions; create extension pg_trgm schema extensions')
  t.same(await migrate(url, log), ['0134-parts-of-numbers'])
  t.same(await query(url, indexes), [{ indisvalid: true }])
  t.same(await diagnoseDatabase({ pool }), [{ ok: true, text: 'every index is there' }])
})

t.test('the plan names every table that waits, as PostgreSQL has it', async (t) => {
  const url = await emptyDatabase(t)
  const client = new Client({ connectionString: url })
  await client.connect()
  t.teardown(() => client.end())
  const modes = new Map([
    ['AccessExclusiveLock', 'reads and writes'],
    ['ExclusiveLock', 'writes'],
    ['ShareRowExclusiveLock', 'writes'],
    ['ShareLock', 'writes'],
  ])
  for (const migration of MIGRATIONS) {
    if (!('sql' in migration)) continue
    const planned = await planMigration(client, migration)
    await client.query('begin')
    const { rows: before } = await client.query<{ oid: number; name: string }>(
      `select oid::int, relname as name from pg_class where relkind in ('r', 'p') and not relispartition and relnamespace = 'public'::regnamespace`,
    )
    await client.query(migration.sql)
    const { rows } = await client.query<{ oid: number; mode: string }>(
      `select distinct relation::int as oid, mode from pg_locks where pid = pg_backend_pid() and relation is not null`,
    )
    await client.query('commit')
    const found = new Map<string, string>()
    for (const { oid, mode } of rows) {
      const waits = modes.get(mode)
      const table = before.find((one) => one.oid === oid)?.name
      if (table !== undefined && waits !== undefined && found.get(table) !== 'reads and writes') found.set(table, waits)
    }
    const told = planned.filter(({ waits }) => waits !== 'nothing').map(({ table, waits }) => [table, waits])
    t.same(told.sort(), [...found].sort(), migration.name)
  }
})

t.test('the plan says what waits and for about how long, and changes nothing', async (t) => {
  const url = await testDatabase(t)
  await query(url, 'create table big as select n, repeat(md5(n::text), 8) as text from generate_series(1, 200000) n')
  await query(url, 'analyze big')
  const pending = [
    { name: '9996-beside', indexes: [{ name: 'big_n', on: 'big (n)' }] },
    { name: '9997-quick', sql: 'create table quick (id integer)' },
    { name: '9998-index', sql: 'create index big_text on big (text)' },
    { name: '9999-update', sql: `update big set text = ''; alter table big add column x text default ''` },
  ]
  const plan = await describePlan(url, log, [...MIGRATIONS, ...pending])
  t.match(plan, /^4 migrations are to be applied; the database has \d+\.\n/)
  t.match(plan, /9996-beside: nothing of big \(6\d\.\d MB, 200000 rows\) waits; it takes about \d s\n/)
  t.match(plan, /9997-quick: nothing waits\n/)
  t.match(plan, /9998-index: writes of big \(.*\) wait for about \d s\n/)
  t.match(plan, /9999-update: reads and writes of big \(.*\) wait for about 1\d s\n/)
  t.same(await query(url, `select from migrations where name like '999%'`), [])
  t.match(await describePlan(await emptyDatabase(t), log), /^The database is empty/)
})

t.test('every released migration has a name of its own and they are in order', async (t) => {
  const names = MIGRATIONS.map(({ name }) => name)
  t.same(names, [...new Set(names)].sort())
})

t.test('a database that does not answer is reported as unavailable', async (t) => {
  await t.rejects(migrate('postgres://nobody@127.0.0.1:1/none', log), { code: 'unavailable' })
})

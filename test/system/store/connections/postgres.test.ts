import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import pg from 'pg'
import t, { type Test } from 'tap'
import { outageOf } from '../../../../store/connections/outage.ts'
import { openStore, type Store } from '../../../../store/database/database.ts'
import { testDatabase, testFolder } from '../../../support/instance/services.ts'
import { startFaultProxy } from '../../../support/world/fault-proxy.ts'
import { ownTime } from '../../../support/world/own-time.ts'

/** A database behind a proxy, and a connection past it that the faults leave alone. */
async function proxied(t: Test) {
  const direct = new URL(await testDatabase(t))
  const proxy = await startFaultProxy(t, { path: join(direct.searchParams.get('host') ?? '', '.s.PGSQL.5432') })
  const admin = new pg.Client({ connectionString: direct.href })
  await admin.connect()
  t.teardown(() => admin.end())
  await admin.query('create table seen (n int)')
  const name = direct.pathname.slice(1)
  const url = `postgres://${direct.username}:${direct.password}@127.0.0.1:${proxy.port}/${name}`
  return { url, proxy, admin, name }
}

function opened(t: Test, url: string): Store {
  const store = openStore({ databaseUrl: url })
  t.teardown(() => store.close())
  return store
}

/** Writes all the time over several connections; `lastFaultMs` is when a write last failed, and `reasons` why. */
function writing(t: Test, store: Store) {
  const state = { lastFaultMs: 0, reasons: new Set<string>(), stopped: false }
  const one = async (): Promise<void> => {
    while (!state.stopped) {
      // Kysely gives its connection back as good, whatever came of the query.
      await sql`insert into seen values (1)`.execute(store.acrossTenants).catch((error) => {
        state.lastFaultMs = performance.now()
        state.reasons.add(outageOf(error) ?? String(error))
      })
      await sleep(30)
    }
  }
  const all = Promise.all(Array.from({ length: 8 }, one))
  t.teardown(async () => {
    state.stopped = true
    await all
  })
  return state
}

const endAll =
  'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()'

t.test('a database that was read-only for a while takes writes at once afterwards, under load too', async (t) => {
  const { url, admin, name } = await proxied(t)
  const store = opened(t, url)
  const writes = writing(t, store)
  t.equal(await store.fault(), undefined)
  // What connects from now on gets a server that is a standby still.
  await admin.query(`alter database ${name} set default_transaction_read_only = on`)
  await admin.query(endAll)
  await sleep(2_000)
  t.equal(await store.fault(), 'PostgreSQL is read-only')
  await sleep(1_000)
  await admin.query(`alter database ${name} reset default_transaction_read_only`)
  const endedMs = performance.now()
  await sleep(2_500)
  t.ok(
    writes.lastFaultMs - endedMs < 1_000,
    `the last write failed ${Math.round(writes.lastFaultMs - endedMs)} ms after the end`,
  )
  t.equal(await store.fault(), undefined)
  for (const reason of writes.reasons)
    t.match(reason, /^PostgreSQL is read-only|^PostgreSQL does not answer|^PostgreSQL is restarting/)
})

t.test('connections that fell silent are dropped once the database answers on new ones', async (t) => {
  const { url, proxy } = await proxied(t)
  const store = opened(t, url)
  const writes = writing(t, store)
  await sleep(500)
  proxy.silence()
  proxy.blackHole()
  await sleep(3_000)
  t.equal(await store.fault(), 'PostgreSQL does not answer')
  await proxy.mend()
  const endedMs = performance.now()
  await sleep(9_000)
  const lastMs = Math.round(writes.lastFaultMs - endedMs)
  t.ok(lastMs < 8_000, `the last write failed ${lastMs} ms after the end`)
  t.equal(await store.fault(), undefined)
  const waitedMs = ownTime(t)
  await Promise.all(Array.from({ length: 10 }, () => store.pool.query('insert into seen values (2)')))
  t.ok(waitedMs() < 2_000, `${waitedMs()} ms`)
})

t.test('a connection that fell silent while nobody had it is found out before the next one waits for it', async (t) => {
  const { url, proxy } = await proxied(t)
  const store = opened(t, url)
  const ask = () => store.pool.query('select 1')
  await Promise.all(Array.from({ length: 5 }, ask))
  t.equal(await store.fault(), undefined)
  proxy.silence()
  // The probe finds its own connection silent, and another one that answers, while the others are idle.
  while ((await store.fault()) === undefined) await sleep(50)
  while ((await store.fault()) !== undefined) await sleep(50)
  const tookMs = ownTime(t)
  const answers = await Promise.allSettled([ask(), ask(), ask()])
  t.ok(tookMs() < 5_500, `${tookMs()} ms`)
  for (const one of answers) if (one.status === 'rejected') t.match(one.reason, /^Error: Connection terminated/)
  const soonMs = ownTime(t)
  await Promise.all(Array.from({ length: 10 }, ask))
  t.ok(soonMs() < 1_000, 'the rest was dropped')
})

t.test('a statement whose answer is lost is found out though nothing was asked before that shows it', async (t) => {
  const { url, proxy } = await proxied(t)
  const store = opened(t, url)
  const ask = () => store.pool.query('select 1')
  await Promise.all(Array.from({ length: 5 }, ask))
  // New connections are served all the while.
  proxy.halfOpen()
  const tookMs = ownTime(t)
  await t.rejects(ask(), { message: /^Connection terminated/ })
  t.ok(tookMs() < 6_000, `${tookMs()} ms`)
  const soonMs = ownTime(t)
  await Promise.all(Array.from({ length: 10 }, ask))
  t.ok(soonMs() < 1_000, 'those that were idle were dropped with it')
})

t.test('a connection that somebody has and asks nothing is left alone', async (t) => {
  const { url } = await proxied(t)
  const store = opened(t, url)
  const held = await store.pool.connect()
  await held.query('begin')
  const other = store.pool.query('select pg_sleep(6)')
  await other
  t.equal((await held.query('select 1 as one')).rows[0].one, 1)
  await held.query('commit')
  held.release()
})

t.test('a statement at work outlives a silence of other connections', async (t) => {
  const { url, proxy } = await proxied(t)
  const store = opened(t, url)
  t.equal(await store.fault(), undefined)
  const long = store.pool.query('select 1 as one, pg_sleep(7)')
  await sleep(300)
  proxy.blackHole()
  while ((await store.fault()) === undefined) await sleep(50)
  await proxy.mend()
  while ((await store.fault()) !== undefined) await sleep(50)
  t.equal((await long).rows[0].one, 1)
})

t.test('a query that takes long is left alone while the database answers', async (t) => {
  const { url } = await proxied(t)
  const store = opened(t, url)
  t.equal((await store.pool.query('select 1 as one, pg_sleep(8)')).rows[0].one, 1)
})

t.test('a password that is rotated in its file serves new connections', async (t) => {
  const { url, admin, proxy } = await proxied(t)
  const { username, password } = new URL(url)
  const file = join(await testFolder(t), 'password')
  await writeFile(file, `${password}\n`)
  const address = new URL(url)
  address.password = ''
  address.searchParams.set('passwordfile', file)
  const store = opened(t, address.href)
  t.equal((await store.pool.query('select current_user as name')).rows[0].name, username)
  await writeFile(file, `${await readFile(file, 'utf8')}`)
  proxy.reset()
  t.equal(
    (await store.pool.query('select current_user as name').catch(() => store.pool.query('select current_user as name')))
      .rows[0].name,
    username,
  )
  t.ok(admin)
})

import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import t from 'tap'
import { uuidv7 } from 'uuidv7'
import { openBulkCopy } from '../../../../store/uploads/bulk-copy.ts'
import { testDatabase } from '../../../support/instance/services.ts'

/** Writes a line of the table `loaded_files`, and ends with the process of Postgres that did. */
const LOADER = new URL(
  `data:text/javascript,${encodeURIComponent(`
export const load = async (client, { fails, dies, waits }, source) => {
  for await (const _ of source);
  if (dies) process.exit(3)
  await client.query('insert into loaded_files default values')
  if (waits) await client.query('select pg_sleep(600)')
  if (fails) throw new Error('This file is refused')
  const { rows } = await client.query('select pg_backend_pid() as pid')
  return async () => rows[0].pid
}`)}`,
)

interface Params {
  fails?: boolean
  dies?: boolean
  waits?: boolean
}

async function* file() {
  yield Buffer.from('phone_number\n+14155550100\n')
}

t.test('an upload that finds no database is told to come again', async (t) => {
  const copy = await openBulkCopy({
    databaseUrl: 'postgres://nobody@127.0.0.1:1/none',
    loader: new URL('../../../../store/batches/batch-load.ts', import.meta.url),
    workspaceId: uuidv7(),
    signal: new AbortController().signal,
  })
  t.teardown(() => copy.discard())
  await copy.feed(file())
  await t.rejects(copy.commit({}, {}), { code: 'unavailable' })
})

t.test(
  'uploads take turns on one connection, which a refused one leaves clean and a broken one leaves behind',
  async (t) => {
    const databaseUrl = await testDatabase(t)
    const client = new pg.Client({ connectionString: databaseUrl })
    await client.connect()
    t.teardown(() => client.end())
    await client.query('create table loaded_files (id serial)')
    const upload = async (params: Params, signal = new AbortController().signal): Promise<number> => {
      const copy = await openBulkCopy<object, null, number>({
        databaseUrl,
        loader: LOADER,
        workspaceId: uuidv7(),
        signal,
      })
      try {
        await copy.feed(file())
        return await copy.commit(params, null)
      } finally {
        await copy.discard()
      }
    }
    const kept = async () => (await client.query('select count(*)::int as n from loaded_files')).rows[0].n

    const first = await upload({})
    t.equal(await upload({}), first)
    await t.rejects(upload({ fails: true }), { code: 'internal' })
    t.equal(await kept(), 2, 'nothing of what was refused')
    t.equal(await upload({}), first)
    await client.query('select pg_terminate_backend($1, 60000)', [first])
    t.not(await upload({}), first)
    t.equal(await kept(), 4)

    await t.rejects(upload({ dies: true }), { code: 'internal' }, 'one whose thread ends fails')
    await upload({})
    t.equal(await kept(), 5, 'and is alone in that')
    const stopped = new AbortController()
    const stopping = upload({ waits: true }, stopped.signal)
    const waiting =
      "select count(*)::int as n from pg_stat_activity where datname = current_database() and query like 'select pg_sleep(600)%'"
    while ((await client.query(waiting)).rows[0].n === 0) await sleep(20)
    stopped.abort(new Error('The sender left'))
    await t.rejects(stopping, { message: 'The sender left' })
    await upload({})
    t.equal(await kept(), 6, 'nothing of what was broken off')
  },
)

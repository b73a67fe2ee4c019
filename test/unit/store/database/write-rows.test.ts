import { pino } from 'pino'
import t from 'tap'
import { lostRows } from '../../../../runtime/process/metrics/lost-rows.ts'
import { openStore } from '../../../../store/database/database.ts'
import { isRefusal, writeRow, writeRows } from '../../../../store/database/write-rows.ts'
import { testDatabase } from '../../../support/instance/services.ts'

const store = openStore({ databaseUrl: await testDatabase(t), maxConnections: 2 })
t.teardown(() => store.close())
await store.pool.query('create table numbers (n integer check (n <> 666))')

/** A log whose lines can be read. */
function kept() {
  const lines: Record<string, unknown>[] = []
  const log = pino({ level: 'debug' }, { write: (line: string) => void lines.push(JSON.parse(line)) })
  return { lines, log }
}

const write = (rows: readonly string[]) =>
  store.pool.query('insert into numbers select * from unnest($1::text[]::integer[])', [rows])
const about = (row: string) => ({ row })

async function stored(): Promise<number[]> {
  const { rows } = await store.pool.query<{ n: number }>('delete from numbers returning n')
  return rows.map(({ n }) => n)
}

async function lost(table: string, reason: string): Promise<number> {
  const { values } = await lostRows.get()
  return values.find(({ labels }) => labels.table === table && labels.reason === reason)?.value ?? 0
}

t.test('rows that the database refuses cost no others, and are logged and counted once each', async (t) => {
  for (const poison of [[], ['0'], ['99'], ['17', '18', '63']]) {
    const { lines, log } = kept()
    const before = await lost('numbers', 'refused')
    const rows = Array.from({ length: 100 }, (_, i) =>
      poison.includes(`${i}`) ? (i % 2 ? 'no number' : '666') : `${i}`,
    )
    let statements = 0
    const { refused, left } = await writeRows({
      ...{ table: 'numbers', rows, about, log },
      write: (some) => {
        statements++
        return write(some)
      },
    })
    t.equal(refused.length, poison.length)
    t.same(left, [])
    t.same(
      await stored(),
      Array.from({ length: 100 }, (_, i) => i).filter((i) => !poison.includes(`${i}`)),
    )
    t.equal(lines.length, poison.length)
    t.equal((await lost('numbers', 'refused')) - before, poison.length)
    t.ok(statements <= 1 + poison.length * 16, `${statements} statements`)
  }
})

t.test('the log names the row and never quotes it', async (t) => {
  await store.pool.query('create table secrets (words text check (length(words) < 10))')
  const { lines, log } = kept()
  const words = 'what a caller said'
  const wrote = await writeRow('secrets', { callId: 'c' }, log, () =>
    store.pool.query('insert into secrets values ($1)', [words]),
  )
  t.equal(wrote, false)
  t.match(lines, [{ callId: 'c', table: 'secrets', code: '23514' }])
  t.notOk(JSON.stringify(lines).includes(words))
})

t.test('a database that goes away in the middle leaves what was not written, in order', async (t) => {
  const { log } = kept()
  let statements = 0
  const rows = ['1', '2', '3', 'no number', '5', '6', '7', '8']
  const { refused, left, error } = await writeRows({
    ...{ table: 'numbers', rows, about, log },
    write: (some) => {
      if (++statements === 4)
        throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED', syscall: 'connect' })
      return write(some)
    },
  })
  t.match(error, { code: 'ECONNREFUSED' })
  t.same(await stored(), [1, 2])
  t.same([...refused, ...left], ['3', 'no number', '5', '6', '7', '8'])
})

t.test('an error that may be nobody’s fault is tried again, and is the rows’ at the last try', async (t) => {
  const { log } = kept()
  const rows = ['1', '2']
  const write = () => store.pool.query('insert into no_such_table values (1)')
  t.same((await writeRows({ table: 'numbers', rows, write, about, log })).left, rows)
  t.same((await writeRows({ table: 'numbers', rows, write, about, log, isLastTry: true })).refused, rows)
})

t.test('an error’s SQLSTATE says whether a row is at fault, the database, or nobody knows', async (t) => {
  const judged = async (code: string) => {
    const raise = `do $$ begin raise exception using errcode = '${code}'; end $$`
    const error: unknown = await store.pool.query(raise).catch((error: unknown) => error)
    return [isRefusal(error), isRefusal(error, true)]
  }
  const refused = [
    '21000',
    '22P02',
    '22021',
    '22001',
    '23502',
    '23505',
    '23514',
    '38000',
    '39000',
    '44000',
    '54000',
    'P0001',
  ]
  for (const code of refused) t.same(await judged(code), [true, true], code)
  const outages = ['08006', '25006', '28P01', '3D000', '53100', '53300', '55P03', '57P01', '57P03', '58030']
  for (const code of outages) t.same(await judged(code), [false, false], code)
  for (const code of ['42P01', '40001', '40P01', 'XX000', '57014']) t.same(await judged(code), [false, true], code)
  t.ok(isRefusal(new RangeError('Invalid time value')) && isRefusal(new TypeError('no text')), 'what can not be sent')
  t.notOk(isRefusal(new Error('Connection terminated unexpectedly'), true))
})

t.test('an error that is about no row is thrown', async (t) => {
  const { log } = kept()
  const passes = (error: unknown) => (error as { code?: string }).code === '22P02'
  await t.rejects(writeRows({ table: 'numbers', rows: ['x'], write, about, log, passes }), { code: '22P02' })
  await t.rejects(
    writeRow('numbers', {}, log, () => Promise.reject(new Error('Connection terminated unexpectedly'))),
    /terminated/,
  )
})

import { pino } from 'pino'
import t from 'tap'
import type { CallEntry } from '../../../../../runtime/call/log/call-entry.ts'
import { CallWriter } from '../../../../../runtime/call/log/call-writer.ts'
import type { CallEvent } from '../../../../../runtime/call/log/events.ts'
import { lostRows } from '../../../../../runtime/process/metrics/lost-rows.ts'

const log = pino({ level: 'silent' })
const event = (seq: number): CallEvent => ({ type: 'typed', text: `${seq}`, seq, at: seq * 1000 })

/** A database that fails the first attempts; what it took. */
function database(failures = 0) {
  const rows: CallEntry[] = []
  let statements = 0
  return {
    rows,
    statements: () => statements,
    write: async (some: readonly CallEntry[]) => {
      statements++
      if (failures-- > 0) throw new Error('database away')
      rows.push(...some)
      return { left: [] }
    },
  }
}

t.test('the events of all calls are written in one statement, a row a call', async (t) => {
  const { rows, statements, write } = database()
  const writer = new CallWriter({ write, log, flushMs: 60_000 })
  writer.add('w1', 'a', event(0))
  writer.add('w2', 'b', event(0))
  writer.add('w1', 'a', event(1))
  writer.add('w1', 'a', { type: 'words', text: 'hel', start_ms: 0, end_ms: 1, final: false, seq: 2, at: 0 })
  await writer.flush()
  t.equal(statements(), 1)
  t.same(
    rows.map(({ workspaceId, callId, firstSeq, lastSeq, at }) => [workspaceId, callId, firstSeq, lastSeq, at]),
    [
      ['w1', 'a', 0, 1, 0],
      ['w2', 'b', 0, 0, 0],
    ],
  )
  t.same(JSON.parse(rows[0]!.events ?? ''), [event(0), event(1)])
})

t.test('events are written by themselves, soon', async (t) => {
  const { rows, write } = database()
  const writer = new CallWriter({ write, log, flushMs: 10 })
  writer.add('w', 'a', event(0))
  while (rows.length === 0) await new Promise((resolve) => setTimeout(resolve, 10))
  t.equal(rows.length, 1)
})

t.test(
  'what a database that was away did not take is written again as it was, and before what came since',
  async (t) => {
    const { rows, write } = database(1)
    const writer = new CallWriter({ write, log, flushMs: 60_000 })
    writer.add('w', 'a', event(0))
    await writer.flush()
    t.same(rows, [])
    writer.add('w', 'a', event(1))
    await writer.flush()
    t.same(
      rows.map(({ firstSeq, lastSeq }) => [firstSeq, lastSeq]),
      [
        [0, 0],
        [1, 1],
      ],
    )
  },
)

t.test('a database that stays away costs the oldest events, not the memory', async (t) => {
  const { rows, write } = database()
  const writer = new CallWriter({ write, log, flushMs: 60_000 })
  for (let i = 0; i < 50; i++) for (let seq = 0; seq < 1_001; seq++) writer.add('w', `call ${i}`, event(seq))
  await writer.flush()
  const kept = rows.reduce((all, { firstSeq, lastSeq }) => all + lastSeq - firstSeq + 1, 0)
  t.ok(kept <= 50_000 && kept > 48_000, `${kept} events`)
  t.notOk(rows.some(({ callId }) => callId === 'call 0'))
})

t.test('only what was neither written nor refused is written again', async (t) => {
  const rows: CallEntry[] = []
  let isAway = true
  const write = async (some: readonly CallEntry[]) => {
    const [first, second, ...rest] = some
    if (!isAway) {
      rows.push(...some)
      return { left: [] }
    }
    rows.push(first!)
    t.equal(second?.callId, 'refused')
    return { left: rest, error: new Error('database away') }
  }
  const writer = new CallWriter({ write, log, flushMs: 60_000 })
  for (const callId of ['a', 'refused', 'b']) writer.add('w', callId, event(0))
  await writer.flush()
  isAway = false
  await writer.flush()
  t.same(
    rows.map(({ callId }) => callId),
    ['a', 'b'],
  )
})

t.test('an error that comes again and again is said to be the last try', async (t) => {
  const tries: boolean[] = []
  const write = async (some: readonly CallEntry[], isLastTry: boolean) => {
    tries.push(isLastTry)
    return { left: isLastTry ? [] : some }
  }
  const writer = new CallWriter({ write, log, flushMs: 60_000 })
  writer.add('w', 'a', event(0))
  for (let i = 0; i < 12; i++) await writer.flush()
  t.same(tries, [...Array(8).fill(false), true])
})

t.test('what waits for a database that is away is bounded by its size, and what is lost is counted', async (t) => {
  const { rows, write } = database(20)
  const writer = new CallWriter({ write, log, flushMs: 60_000 })
  const lostBefore = await lostOf('overflow')
  for (let i = 0; i < 20; i++) {
    const text = 'x'.repeat(8 << 20)
    writer.add('w', `call ${i}`, { ...event(0), text } as CallEvent)
    await writer.flush()
  }
  await writer.flush()
  t.ok(rows.length >= 6 && rows.length <= 8, `${rows.length} rows`)
  t.equal(rows.at(-1)?.callId, 'call 19')
  t.equal((await lostOf('overflow')) - lostBefore, 20 - rows.length)
})

t.test('what a database that is away can not take before the end is counted', async (t) => {
  const { write } = database(100)
  const writer = new CallWriter({ write, log, flushMs: 60_000 })
  const lostBefore = await lostOf('unreachable')
  writer.add('w', 'a', event(0))
  await writer.stop()
  t.equal((await lostOf('unreachable')) - lostBefore, 1)
})

const ENDED = { type: 'ended', status: 'completed', end_reason: 'idle', disposition: 'completed', at: 0 } as const

t.test('an answer and an end are written at once, each the last of its entry', async (t) => {
  const { rows, write } = database()
  const writer = new CallWriter({ write, log, flushMs: 60_000 })
  writer.add('w', 'a', event(0))
  writer.add('w', 'a', { type: 'answered', seq: 1, at: 0 })
  writer.add('w', 'a', event(2))
  writer.add('w', 'a', { ...ENDED, seq: 3 })
  await writer.written('a')
  t.same(
    rows.map(({ firstSeq, lastSeq }) => [firstSeq, lastSeq]),
    [
      [0, 1],
      [2, 3],
    ],
  )
  t.match(rows, [{ change: { status: 'in_progress' } }, { change: { end: { endReason: 'idle' } } }])
})

t.test('a call is written when all of it is, and when the writer stops', async (t) => {
  const { rows, write } = database(1)
  const writer = new CallWriter({ write, log, flushMs: 60_000 })
  await writer.written('a')
  writer.add('w', 'a', { ...ENDED, seq: 0 })
  let isWritten = false
  const written = writer.written('a').then(() => {
    isWritten = true
  })
  await writer.flush()
  t.notOk(isWritten, 'the database was away')
  await writer.flush()
  await written
  t.equal(rows.length, 1)

  const gone = new CallWriter({ write: database(100).write, log, flushMs: 60_000 })
  gone.add('w', 'a', { ...ENDED, seq: 0 })
  const givenUp = gone.written('a')
  await gone.stop()
  await givenUp
})

t.test('what a long outage costs are events of calls, not their ends', async (t) => {
  const { rows, write } = database(20)
  const writer = new CallWriter({ write, log, flushMs: 60_000 })
  for (let i = 0; i < 20; i++) {
    writer.add('w', `call ${i}`, { ...event(0), text: 'x'.repeat(8 << 20) } as CallEvent)
    writer.add('w', `call ${i}`, { ...ENDED, seq: 1 })
    await writer.flush()
  }
  await writer.flush()
  const ends = rows.filter(({ change }) => change?.end !== undefined).map(({ callId }) => callId)
  t.same(ends.sort(), Array.from({ length: 20 }, (_, i) => `call ${i}`).sort())
  t.ok(rows.filter(({ firstSeq }) => firstSeq === 0).length < 10)
})

async function lostOf(reason: string): Promise<number> {
  const { values } = await lostRows.get()
  const { value = 0 } = values.find(({ labels }) => labels.table === 'call_events' && labels.reason === reason) ?? {}
  return value
}

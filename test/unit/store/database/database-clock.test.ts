import t from 'tap'
import { createLogger } from '../../../../runtime/process/log.ts'
import { openStore } from '../../../../store/database/database.ts'
import { DatabaseClock, databaseClockOf, openDatabaseClock } from '../../../../store/database/database-clock.ts'
import { emptyDatabase } from '../../../support/instance/services.ts'

/** A machine whose clocks are set by hand. */
function machineAt(wallMs: number) {
  const at = { wallMs, monotonicMs: 500 }
  return { at, clock: { nowMs: () => at.wallMs, monotonicMs: () => at.monotonicMs } }
}

t.test('a machine that is 90 s ahead has the time of the database', async (t) => {
  const { clock: machine } = machineAt(1_090_000)
  const clock = new DatabaseClock(machine)
  t.equal(clock.nowMs(), 1_090_000, 'its own, until the database was asked')
  t.equal(clock.set({ databaseMs: 1_000_000, askedAtMs: 490, answeredAtMs: 510 }), 90_000)
  t.equal(clock.nowMs(), 1_000_000)
})

t.test('a wall clock that is set changes nothing, and time goes on without the database', async (t) => {
  const { at, clock: machine } = machineAt(1_000_000)
  const clock = new DatabaseClock(machine)
  clock.set({ databaseMs: 1_000_000, askedAtMs: 500, answeredAtMs: 500 })
  at.wallMs -= 90_000
  at.monotonicMs += 2_000
  t.equal(clock.nowMs(), 1_002_000)
  t.equal(clock.monotonicMs(), 2_500)
})

t.test('what an answer leaves uncertain does not move the time', async (t) => {
  const { clock: machine } = machineAt(1_000_000)
  const clock = new DatabaseClock(machine)
  t.equal(clock.set({ databaseMs: 1_000_030, askedAtMs: 500, answeredAtMs: 500 }), 0)
  clock.set({ databaseMs: 1_000_900, askedAtMs: 500, answeredAtMs: 2_300 })
  t.equal(clock.nowMs(), 1_000_000, 'the answer took as long')
  clock.set({ databaseMs: 1_000_300, askedAtMs: 480, answeredAtMs: 520 })
  t.equal(clock.nowMs(), 1_000_300)
})

t.test('a command that ends soon asks once', async (t) => {
  const { at, clock: machine } = machineAt(Date.now() + 90_000)
  const store = openStore({ databaseUrl: await emptyDatabase(t), maxConnections: 1 })
  t.teardown(() => store.close())
  const clock = await databaseClockOf(store, machine)
  const ms = clock.nowMs()
  t.ok(Math.abs(ms - Date.now()) < 5_000)
  at.monotonicMs += 2_000
  t.equal(clock.nowMs(), ms + 2_000)
})

t.test('the log says that the clock of the machine is wrong', async (t) => {
  const lines: string[] = []
  const log = createLogger({ level: 'warn', name: 'test', destination: { write: (line) => void lines.push(line) } })
  const machine = { nowMs: () => Date.now() + 90_000, monotonicMs: () => performance.now() }
  const stopping = new AbortController()
  t.teardown(() => stopping.abort())
  const { signal } = stopping
  const clock = await openDatabaseClock({ databaseUrl: await emptyDatabase(t), machine, log, signal })
  t.ok(Math.abs(clock.nowMs() - Date.now()) < 1_000)
  t.match(lines, [/"aheadMs":(?:9\d|89)\d{3}.*This machine's clock is wrong; the database's is used/])
})

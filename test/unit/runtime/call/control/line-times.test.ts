import t from 'tap'
import { LineTimes } from '../../../../../runtime/call/control/line-times.ts'

t.test('what a worker says is told at the times at which it was on the line', (t) => {
  const times = new LineTimes({ encoding: 'pcmu', sampleRateHz: 8_000 })
  t.equal(times.byOurs(700), 700, 'before anything is known')
  // The worker's clock is 300 ms ahead of ours, and the second frame waits 40 ms on its way.
  for (const [said, now] of [
    [1_000, 702],
    [1_020, 760],
    [1_040, 761],
  ] as const)
    times.frame(said, now)
  t.equal(times.byOurs(2_000), 1_702)
  t.equal(times.onLine(1_000, 'start'), 702)
  t.equal(times.onLine(1_060, 'end'), 762, 'a run is played without gaps')
  // A pause, and a frame that was held up.
  times.frame(3_000, 2_790)
  times.frame(3_020, 2_791)
  t.equal(times.onLine(3_000, 'start'), 2_790)
  t.equal(times.onLine(3_040, 'end'), 2_830)
  // It came so late that there is a gap on the line.
  times.frame(3_040, 2_950)
  t.equal(times.onLine(3_060, 'end'), 2_970)
  t.equal(times.onLine(3_040, 'start'), 2_950)
  t.equal(times.onLine(3_040, 'end'), 2_830)
  t.end()
})

t.test('what is dropped ends there, and another worker has another clock', (t) => {
  const times = new LineTimes({ encoding: 'pcmu', sampleRateHz: 8_000 })
  for (let i = 0; i < 10; i++) times.frame(1_000 + 20 * i, 1_000)
  times.cleared(1_090)
  t.equal(times.onLine(1_090, 'end'), 1_090)
  times.frame(1_400, 1_401)
  t.equal(times.onLine(1_400, 'start'), 1_401)
  times.forget()
  t.equal(times.onLine(1_000, 'start'), 1_000)
  t.end()
})

t.test('what the caller said was spoken where its timestamps have it, however late it came', (t) => {
  const times = new LineTimes({ encoding: 'pcmu', sampleRateHz: 8_000 })
  t.equal(times.spoken(0), undefined, 'before anything was heard')
  const packet = new Uint8Array(160)
  const late: number[] = []
  // A packet each 20 ms: the machine was busy from the fourth one to the sixth.
  for (const [i, nowMs] of [20, 40, 60, 190, 190, 190, 191, 191, 191, 200, 220].entries()) {
    late.push(times.heard(packet, 160 * i, nowMs))
  }
  t.same(late, [0, 0, 0, 110, 90, 70, 51, 31, 11, 0, 0])
  t.same(
    [0, 160, 480, 1_600].map((timestamp) => times.spoken(timestamp)),
    [0, 20, 60, 200],
  )
  times.forget()
  t.equal(times.spoken(1_600), 200, 'another worker hears the same caller')
  t.end()
})

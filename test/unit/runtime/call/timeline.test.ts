import t from 'tap'
import { CallTimeline } from '../../../../runtime/call/timeline.ts'

const FRAME = new Uint8Array(160)

/** Of a call that was answered when monotonic time began. */
const timeline = () => new CallTimeline({ encoding: 'pcmu', sampleRateHz: 8_000 }, (nowMs) => nowMs)

t.test('what a worker says is told at the times at which it was on the line', (t) => {
  const times = timeline()
  t.equal(times.byOurs(700), 700, 'before anything is known')
  // The worker's clock is 300 ms ahead of ours, and the second frame waits 40 ms on its way.
  for (const [said, now] of [
    [1_000, 702],
    [1_020, 760],
    [1_040, 761],
  ] as const)
    times.said(FRAME, now, said)
  t.equal(times.byOurs(2_000), 1_702)
  t.equal(times.onLine(1_000, 'start'), 702)
  t.equal(times.onLine(1_060, 'end'), 762, 'a run is played without gaps')
  // A pause, and a frame that was held up.
  times.said(FRAME, 2_790, 3_000)
  times.said(FRAME, 2_791, 3_020)
  t.equal(times.onLine(3_000, 'start'), 2_790)
  t.equal(times.onLine(3_040, 'end'), 2_830)
  // It came so late that there is a gap on the line.
  times.said(FRAME, 2_950, 3_040)
  t.equal(times.onLine(3_060, 'end'), 2_970)
  t.equal(times.onLine(3_040, 'start'), 2_950)
  t.equal(times.onLine(3_040, 'end'), 2_830)
  t.end()
})

t.test('what is dropped ends there, and another worker has another clock', (t) => {
  const times = timeline()
  for (let i = 0; i < 10; i++) times.said(FRAME, 1_000, 1_000 + 20 * i)
  times.cleared(1_090)
  t.equal(times.onLine(1_090, 'end'), 1_090)
  times.said(FRAME, 1_401, 1_400)
  t.equal(times.onLine(1_400, 'start'), 1_401)
  times.forgetWorker()
  t.equal(times.onLine(1_000, 'start'), 1_000)
  t.end()
})

t.test('what the caller said was spoken where its timestamps have it, however late it came', (t) => {
  const times = timeline()
  t.equal(times.spoken(0), undefined, 'before anything was heard')
  const packet = new Uint8Array(160)
  const late: number[] = []
  // A packet each 20 ms: the machine was busy from the fourth one to the sixth.
  for (const [i, nowMs] of [20, 40, 60, 190, 190, 190, 191, 191, 191, 200, 220].entries()) {
    late.push(Math.round(nowMs - times.heard(packet, 160 * i, nowMs).arrivedMs))
  }
  t.same(late, [0, 0, 0, 110, 90, 70, 51, 31, 11, 0, 0])
  t.same(
    [0, 160, 480, 1_600].map((timestamp) => times.spoken(timestamp)),
    [0, 20, 60, 200],
  )
  times.forgetWorker()
  t.equal(times.spoken(1_600), 200, 'another worker hears the same caller')
  t.end()
})

t.test('the log is told milliseconds from the answer, the recording places since time began', (t) => {
  const times = new CallTimeline({ encoding: 'pcmu', sampleRateHz: 8_000 }, (nowMs) => nowMs - 5_000)
  t.match(times.heard(new Uint8Array(160), 0, 6_000), { at: 8 * 5_980, arrivedMs: 6_000 })
  t.equal(times.spoken(0), 980)
  t.equal(times.said(FRAME, 6_100, 1_500), 6_100)
  t.equal(times.onLine(1_500, 'start'), 1_100)
  t.end()
})

t.test('a supervisor who speaks in the place of the agent is one voice with it', (t) => {
  const times = timeline()
  t.equal(times.said(FRAME, 1_000, 500), 1_000)
  t.equal(times.said(FRAME, 1_030), 1_020, 'it follows what the agent said')
  t.equal(times.cleared(1_025), 1_025)
  t.equal(times.said(FRAME, 1_026), 1_025)
  t.equal(times.onLine(520, 'end'), 1_020, 'of the agent it is still known')
  t.end()
})

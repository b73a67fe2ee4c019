import fc from 'fast-check'
import t from 'tap'
import {
  expectedAbandoned,
  expectedRate,
  LIMIT,
  NO_HISTORY,
  ratioOf,
  TARGET,
  upperRate,
} from '../../../../runtime/dialing/over-dialing.ts'
import { type CampaignLoad, type PaceLimits, pace as paceBy } from '../../../../runtime/dialing/pacing.ts'
import { SourceNumberChooser } from '../../../../runtime/dialing/source-number.ts'

const pace = (load: CampaignLoad, limits: PaceLimits) => paceBy(load, limits, NO_HISTORY)

const count = fc.integer({ min: 0, max: 500 })
const anyLoad = fc
  .record({ free: count, placing: count, ringing: count, waiting: count, talking: count })
  .map(({ free, ...calls }) => ({ ...calls, seats: free + calls.placing + calls.ringing + calls.waiting }))
const anyLimits = fc.record({
  callRatio: fc.double({ min: 0.01, max: 10, noNaN: true }),
  pacing: fc.constant('predictive' as const),
  maxActiveCalls: fc.integer({ min: 0, max: 800 }),
  numberRoom: fc.option(count, { nil: undefined }),
})

t.test('before anything is known no tick places more than ratio, caps and numbers allow', async () => {
  fc.assert(
    fc.property(anyLoad, anyLimits, (load, limits) => {
      const { place, effectiveRatio } = pace(load, limits)
      const underWay = load.placing + load.ringing + load.waiting
      if (!Number.isInteger(place) || place < 0) throw new Error(`places ${place}`)
      if (effectiveRatio > limits.callRatio) throw new Error('more than call_ratio')
      const most = Math.max(load.seats, limits.callRatio * load.seats)
      if (place > 0 && place + underWay > most + 0.5) throw new Error('more calls than call_ratio allows')
      if (effectiveRatio <= 1 && place > 0 && place + underWay > load.seats) throw new Error('more calls than seats')
      if (place > 0 && limits.maxActiveCalls > 0 && place + underWay + load.talking > limits.maxActiveCalls)
        throw new Error('max_active_calls')
      if (place > (limits.numberRoom ?? place)) throw new Error('the numbers')
    }),
    { numRuns: 2_000 },
  )
})

const anyHistory = fc
  .record({
    attempts: fc.integer({ min: 0, max: 400 }),
    rate: fc.double({ min: 0, max: 1, noNaN: true }),
    live: fc.integer({ min: 0, max: 2_000 }),
    abandonedPart: fc.double({ min: 0, max: 0.05, noNaN: true }),
    minuteLive: fc.integer({ min: 0, max: 60 }),
    minutePart: fc.double({ min: 0, max: 1, noNaN: true }),
  })
  .map(({ attempts, rate, live, abandonedPart, minuteLive, minutePart }) => ({
    recent: { attempts, pickedUp: Math.round(attempts * rate) },
    month: { live, abandoned: Math.round(live * abandonedPart) },
    minute: { live: minuteLive, abandoned: Math.round(minuteLive * minutePart) },
  }))

t.test('over-dialling leaves no more than the target without an agent, whatever was seen before', async () => {
  fc.assert(
    fc.property(
      fc.double({ min: 1.01, max: 10, noNaN: true }),
      fc.integer({ min: 0, max: 300 }),
      anyHistory,
      (callRatio, seats, history) => {
        const { ratio } = ratioOf({ callRatio, pacing: 'predictive' }, seats, history)
        const { recent, month, minute } = history
        if (!(ratio >= 1 && ratio <= callRatio)) throw new Error(`ratio ${ratio}`)
        if (month.live > 0 && month.abandoned / month.live >= LIMIT && ratio > 1) throw new Error('over the limit')
        if (minute.live > 20 && minute.abandoned * 2 >= minute.live && ratio > Math.max(1, callRatio / 2)) {
          throw new Error('not halved')
        }
        const rate = expectedRate(recent)
        const calls = Math.round(ratio * seats)
        const left = expectedAbandoned(calls, rate, seats)
        if (ratio > 1 && left > TARGET * calls * rate + 1e-9) throw new Error(`${left} of ${calls * rate}`)
      },
    ),
    { numRuns: 2_000 },
  )
})

t.test('the fewer attempts there are, the more may pick up than did', async (t) => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 400 }), fc.double({ min: 0, max: 1, noNaN: true }), (attempts, rate) => {
      const pickedUp = Math.round(attempts * rate)
      const [few, many] = [
        upperRate({ attempts, pickedUp }),
        upperRate({ attempts: 4 * attempts, pickedUp: 4 * pickedUp }),
      ]
      if (few < many - 1e-9 || many < pickedUp / attempts - 1e-9 || few > 1) throw new Error(`${few} and ${many}`)
      if (pickedUp < attempts && few - many < 1e-4) throw new Error(`${few} is as sure as ${many}`)
    }),
    { numRuns: 1_000 },
  )
  // Wilson's interval for none of n: z² / (n + z²).
  t.ok(Math.abs(upperRate({ attempts: 50, pickedUp: 0 }) - 2.706 / 52.706) < 1e-3)
})

t.test('who finds nobody free is what chance says', async (t) => {
  let state = 7
  const random = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
  for (const [calls, rate, seats] of [
    [20, 0.3, 5],
    [60, 0.25, 15],
    [300, 0.1, 28],
  ] as const) {
    const rounds = 20_000
    let left = 0
    for (let i = 0; i < rounds; i++) {
      let pickedUp = 0
      for (let call = 0; call < calls; call++) if (random() < rate) pickedUp++
      left += Math.max(0, pickedUp - seats)
    }
    const expected = expectedAbandoned(calls, rate, seats)
    t.ok(Math.abs(left / rounds - expected) < 0.05 * Math.max(1, expected), `${left / rounds} and ${expected}`)
  }
  t.equal(expectedAbandoned(10, 0.5, 10), 0)
  t.equal(expectedAbandoned(10, 1, 4), 6)
})

t.test('many seats and few who pick up allow many calls a seat; few seats none, and the reason is said', async (t) => {
  const upTo = (callRatio: number) => ({ callRatio, pacing: 'predictive' as const })
  const known = (attempts: number, pickedUp: number) => ({ ...NO_HISTORY, recent: { attempts, pickedUp } })
  t.match(ratioOf(upTo(2), 100, known(300, 30)), { ratio: 2, why: /call_ratio lets 2/ })
  const { ratio } = ratioOf(upTo(10), 50, known(300, 90))
  t.ok(ratio > 2 && ratio < 3, `${ratio} on 50 seats where three of ten pick up`)
  t.equal(ratioOf(upTo(10), 1, known(300, 90)).ratio, 1, 'a single seat')
  t.ok(ratioOf(upTo(10), 50, known(300, 290)).ratio < 1.05, 'nearly all pick up')
  const watched = { ...known(300, 90), month: { live: 1_000, abandoned: 12 } }
  t.ok(ratioOf(upTo(10), 50, watched).ratio < ratio, 'more careful above the target')
  t.match(ratioOf(upTo(10), 50, { ...watched, month: { live: 1_000, abandoned: 25 } }), {
    ratio: 1,
    why: /2\.5 % of those/,
  })
  const minute = { live: 21, abandoned: 11 }
  t.match(ratioOf(upTo(10), 50, { ...known(300, 90), minute }), { ratio: ratio / 2, why: /11 of the 21/ })
  t.equal(ratioOf(upTo(10), 50, { ...known(300, 90), minute: { live: 20, abandoned: 20 } }).ratio, ratio, 'of few')
  const calls = { placing: 30, ringing: 70, waiting: 0, talking: 40 }
  const limits = { callRatio: 10, pacing: 'predictive' as const, maxActiveCalls: 0, numberRoom: undefined }
  t.equal(paceBy({ ...calls, seats: 50 }, limits, known(300, 90)).place, Math.round(ratio * 50) - 100)
})

t.test(
  'a ratio of 2 acts from the first tick: more than four calls on four free seats, and the reason is the bound',
  async (t) => {
    const idle = { seats: 4, placing: 0, ringing: 0, waiting: 0, talking: 0 }
    const limits = { callRatio: 2, pacing: 'predictive' as const, maxActiveCalls: 0, numberRoom: undefined }
    const first = pace(idle, limits)
    t.match(first, { place: 6, effectiveRatio: 1.5, why: /30\.0 % of those called pick up: 6 calls on 4 seats/ })
    t.match(pace({ ...idle, placing: 6 }, limits), { place: 0, effectiveRatio: 1.5, why: /6 calls on 4 seats/ })
    t.match(pace(idle, { ...limits, maxActiveCalls: 5 }), { place: 5, why: /max_active_calls lets 5/ })
    const fixed = { ...limits, pacing: 'fixed' as const }
    t.match(pace(idle, fixed), { place: 8, effectiveRatio: 2, why: /call_ratio lets 2 calls/ })
    t.match(paceBy(idle, fixed, { ...NO_HISTORY, month: { live: 1_000, abandoned: 25 } }), { place: 4, why: /3 %/ })
  },
)

t.test('a ratio of 1 takes every free seat', async (t) => {
  const calls = { placing: 2, ringing: 1, waiting: 0, talking: 5 }
  const limits = { callRatio: 1, pacing: 'predictive' as const, maxActiveCalls: 0, numberRoom: undefined }
  t.equal(pace({ ...calls, seats: 13 }, limits).place, 10)
  t.equal(pace({ ...calls, seats: 13 }, { ...limits, callRatio: 0.5 }).place, 4)
  t.equal(pace({ ...calls, seats: 13 }, { ...limits, maxActiveCalls: 9 }).place, 1)
  t.match(pace({ ...calls, seats: 0 }, limits), { place: 0, why: 'No seat is free' })
})

t.test(
  'source numbers: the one seen before, then one of the area, then the one used least lately, never one over its cap',
  async (t) => {
    const numbers = ['+12125550100', '+12125550101', '+14155550100'].map((number) => ({
      number,
      attempts: 0,
      lastMs: undefined,
    }))
    const chooser = new SourceNumberChooser(numbers, 2)
    t.equal(chooser.room, 6)
    t.equal(chooser.choose({ phone: '+14155552671', before: '+12125550101' }, 1), '+12125550101')
    t.equal(chooser.choose({ phone: '+14155552671', before: null }, 2), '+14155550100')
    t.equal(chooser.choose({ phone: '+12125552671', before: null }, 3), '+12125550100')
    t.equal(chooser.choose({ phone: '+13125552671', before: null }, 4), '+12125550101')
    t.equal(
      chooser.choose({ phone: '+13125552671', before: '+12125550101' }, 5),
      '+14155550100',
      'one over its cap is left',
    )
    t.equal(chooser.choose({ phone: '+13125552671', before: null }, 6), '+12125550100')
    t.equal(chooser.choose({ phone: '+13125552671', before: null }, 7), undefined)
    t.equal(chooser.room, 0)
  },
)

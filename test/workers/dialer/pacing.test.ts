import fc from 'fast-check'
import t from 'tap'
import { pace } from '../../../workers/dialer/pacing.ts'
import { NumberChooser } from '../../../workers/dialer/source-number.ts'

const count = fc.integer({ min: 0, max: 500 })
const anyLoad = fc
  .record({ free: count, placing: count, ringing: count, waiting: count, talking: count })
  .map(({ free, ...calls }) => ({ ...calls, seats: free + calls.placing + calls.ringing + calls.waiting }))
const anyLimits = fc.record({
  callRatio: fc.double({ min: 0.01, max: 10, noNaN: true }),
  maxActiveCalls: fc.integer({ min: 0, max: 800 }),
  numberRoom: fc.option(count, { nil: undefined }),
})

t.test('no tick places more than seats, caps and numbers allow', async () => {
  fc.assert(
    fc.property(anyLoad, anyLimits, (load, limits) => {
      const { place, effectiveRatio } = pace(load, limits)
      const underWay = load.placing + load.ringing + load.waiting
      if (!Number.isInteger(place) || place < 0) throw new Error(`places ${place}`)
      if (effectiveRatio > 1 || effectiveRatio > limits.callRatio) throw new Error('dials without a seat')
      if (place > 0 && place + underWay > load.seats) throw new Error('more calls than seats')
      if (place > 0 && limits.maxActiveCalls > 0 && place + underWay + load.talking > limits.maxActiveCalls)
        throw new Error('max_active_calls')
      if (place > (limits.numberRoom ?? place)) throw new Error('the numbers')
    }),
    { numRuns: 2_000 },
  )
})

t.test('a ratio of 1 takes every free seat', async (t) => {
  const calls = { placing: 2, ringing: 1, waiting: 0, talking: 5 }
  const limits = { callRatio: 1, maxActiveCalls: 0, numberRoom: undefined }
  t.equal(pace({ ...calls, seats: 13 }, limits).place, 10)
  t.equal(pace({ ...calls, seats: 13 }, { ...limits, callRatio: 0.5 }).place, 4)
  t.equal(pace({ ...calls, seats: 13 }, { ...limits, maxActiveCalls: 9 }).place, 1)
  t.match(pace({ ...calls, seats: 13 }, { ...limits, callRatio: 3 }), { place: 10, effectiveRatio: 1 })
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
    const chooser = new NumberChooser(numbers, 2)
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

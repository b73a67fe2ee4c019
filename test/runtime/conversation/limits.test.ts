import { test } from 'tap'
import { CallLimits } from '../../../runtime/conversation/limits.ts'

test('a call is idle once nobody spoke for so long, counted anew after every sound', (t) => {
  const limits = new CallLimits({ idleMs: 100, maxDurationMs: 10_000 }, 0)
  t.equal(limits.check(0, true), undefined)
  t.equal(limits.check(99, true), undefined)
  limits.active()
  t.equal(limits.check(150, true), undefined)
  t.equal(limits.check(200, false), undefined)
  t.equal(limits.check(290, true), undefined)
  t.equal(limits.check(389, true), undefined)
  t.equal(limits.check(390, true), 'idle')
  t.end()
})

test('a call ends at its longest duration whoever speaks', (t) => {
  const limits = new CallLimits({ idleMs: 100, maxDurationMs: 1000 }, 500)
  t.equal(limits.check(1499, false), undefined)
  t.equal(limits.check(1500, false), 'max_duration')
  t.end()
})

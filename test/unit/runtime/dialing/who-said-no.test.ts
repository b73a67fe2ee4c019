import t from 'tap'
import { restsUntil } from '../../../../runtime/dialing/number-rest.ts'
import { attemptOutcomeOf, decide } from '../../../../runtime/dialing/retry.ts'
import { SourceNumberChooser } from '../../../../runtime/dialing/source-number.ts'
import {
  DECIDERS,
  FAILURE_CAUSES,
  HUMAN_REFUSAL_MS,
  type SignallingFacts,
  verdictOf,
} from '../../../../runtime/plugin-sdk/telephony/cause.ts'
import { outcomeOfFailure } from '../../../../runtime/plugin-sdk/telephony/outcome.ts'

const POLICY = { retry: {}, maxNumberCalls: 5, minMinutesBetween: 0, voicemailResolves: false }
const AT = { startedMs: 0, endedMs: 30_000, zone: 'America/New_York' }

/** What a campaign does with a call that ended so. */
function settled(facts: SignallingFacts) {
  const verdict = verdictOf(facts)
  const { status, endReason, disposition } = outcomeOfFailure(verdict.failure)
  const outcome = attemptOutcomeOf({
    ...{ status, endReason, disposition, answeredBy: null, answered: false, placed: true, durationMs: 0 },
  })
  return { verdict, outcome, ...decide(outcome, { attempts: 0, faultsInARow: 0, partsTried: [] }, POLICY, AT) }
}

const STATUSES = [undefined, ...Array.from({ length: 400 }, (_, i) => 300 + i)]
const CAUSES = [undefined, ...Array.from({ length: 128 }, (_, i) => i)]
const RANG_MS = [undefined, 0, HUMAN_REFUSAL_MS - 1, HUMAN_REFUSAL_MS, 20_000]
const WORDS = [[], ['Decline'], ['Unwanted'], ['Network Blocked'], ['Decline', 'SIP;cause=603;text="v=analytics1"']]

t.test('no signalling puts a number on the do-not-call list without an act of a person', async (t) => {
  const wrong: unknown[] = []
  let listed = 0
  for (const sipStatus of STATUSES) {
    for (const q850 of CAUSES) {
      for (const rangMs of RANG_MS) {
        for (const words of WORDS) {
          const facts = { sipStatus, q850, rangMs, words }
          const { verdict, outcome, resolution } = settled(facts)
          if (!DECIDERS.includes(verdict.who) || !FAILURE_CAUSES.includes(verdict.cause)) wrong.push(facts)
          if (outcome !== 'declined' && resolution !== 'do_not_call') continue
          listed++
          const isHuman =
            (sipStatus === 603 || sipStatus === 607 || q850 === 21) &&
            (rangMs ?? 0) >= HUMAN_REFUSAL_MS &&
            !words.some((one) => /block|analytics/i.test(one)) &&
            verdict.who === 'callee'
          if (!isHuman) wrong.push(facts)
        }
      }
    }
  }
  t.same(wrong.slice(0, 5), [])
  t.ok(listed > 0, 'a person who declines is listed')
  for (const ours of ['ring_timeout', 'silent', 'stalled', 'canceled'] as const) {
    t.not(settled({ sipStatus: 603, rangMs: 20_000, ours }).resolution, 'do_not_call', ours)
  }
})

t.test('a trunk that tries and says nothing more has failed: nobody declined to answer', async (t) => {
  t.match(settled({ ours: 'stalled' }), { outcome: 'fault', verdict: { who: 'carrier' }, charged: false })
  t.match(settled({}), { outcome: 'fault', verdict: { who: 'carrier' } })
})

t.test('a blocked call is tried again three times, is charged to nobody, and then settles the prospect', async (t) => {
  const policy = { ...POLICY, retry: { blocked: { afterMinutes: 10 } } }
  const after = (faultsInARow: number) => decide('blocked', { attempts: 0, faultsInARow, partsTried: [] }, policy, AT)
  t.same(
    [0, 1, 2].map((n) => (after(n).nextAttemptMs ?? 0) - AT.endedMs),
    [10, 40, 150].map((minutes) => minutes * 60_000),
  )
  t.match(after(0), { charged: false, faultsInARow: 1 })
  t.match(after(3), { resolution: 'failed' })
})

t.test('a prospect whose call was blocked is called from another number, where there is one', async (t) => {
  const numbers = ['+12125550100', '+12125550101'].map((number) => ({ number, attempts: 0, lastMs: undefined }))
  const blocked = { phone: '+12125550142', before: '+12125550100', wasBlocked: true }
  t.equal(new SourceNumberChooser(numbers, 0).choose(blocked, 0), '+12125550101')
  t.equal(new SourceNumberChooser(numbers, 0).choose({ ...blocked, wasBlocked: false }, 0), '+12125550100')
  t.equal(new SourceNumberChooser(numbers.slice(0, 1), 0).choose(blocked, 0), '+12125550100')
})

t.test('a number rests for an hour from the last of three blocks, and each one after it', async (t) => {
  const hourMs = 3_600_000
  t.equal(restsUntil([1_000, 2_000], 3_000), undefined)
  t.equal(restsUntil([1_000, 9_000, 2_000], 10_000), 9_000 + hourMs)
  t.equal(restsUntil([1_000, 9_000, 2_000], 9_000 + hourMs), undefined)
  t.equal(restsUntil([1_000, 9_000, 2_000, 9_001 + hourMs], 9_002 + hourMs), 9_001 + 2 * hourMs)
})

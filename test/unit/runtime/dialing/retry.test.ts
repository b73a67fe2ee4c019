import fc from 'fast-check'
import t from 'tap'
import {
  attemptOutcomeOf,
  DEFAULT_RETRY,
  decide,
  type EndedDial,
  OUTCOMES,
  PARTS_OF_DAY,
  partOfDay,
  type RetryPolicy,
} from '../../../../runtime/dialing/retry.ts'

const MINUTE_MS = 60_000
const POLICY: RetryPolicy = {
  retry: DEFAULT_RETRY,
  maxNumberCalls: 10,
  minMinutesBetween: 30,
  voicemailResolves: false,
}
const NONE = { attempts: 0, faultsInARow: 0, partsTried: [] }
const START = Date.parse('2026-03-02T15:00:00Z')
const AT = { startedMs: START, endedMs: START + MINUTE_MS, zone: 'America/New_York' }

t.test('every way a call can end has its outcome', async (t) => {
  const ended: EndedDial = {
    status: 'completed',
    endReason: 'agent_hangup',
    disposition: 'completed',
    answeredBy: 'human',
    answered: true,
    placed: true,
    durationMs: 60_000,
  }
  const cases: [Partial<EndedDial>, string][] = [
    [{}, 'reached'],
    [{ endReason: 'caller_hangup', durationMs: 9_000 }, 'hung_up'],
    [{ endReason: 'caller_hangup', durationMs: 11_000 }, 'reached'],
    [{ disposition: 'transferred' }, 'reached'],
    [{ disposition: 'voicemail', answered: false }, 'voicemail'],
    [{ answeredBy: 'machine' }, 'voicemail'],
    [{ disposition: 'screened' }, 'no_answer'],
    [{ status: 'busy', endReason: 'busy', answered: false }, 'busy'],
    [{ status: 'no_answer', endReason: 'no_answer', answered: false }, 'no_answer'],
    [{ status: 'failed', endReason: 'rejected', answered: false }, 'declined'],
    [{ status: 'failed', endReason: 'invalid_number', answered: false }, 'invalid_number'],
    [{ status: 'failed', endReason: 'carrier_error', answered: false }, 'fault'],
    [{ status: 'failed', endReason: 'no_capacity', answered: false, placed: false }, 'fault'],
    [{ status: 'failed', endReason: 'agent_deleted', answered: false, placed: false }, 'fault'],
    [{ status: 'failed', endReason: 'node_lost', answered: false }, 'unknown'],
    [{ status: 'failed', endReason: 'worker_lost', durationMs: 40_000 }, 'reached'],
    [{ status: 'failed', endReason: 'worker_lost', durationMs: 4_000 }, 'fault'],
    [{ status: 'canceled', endReason: 'skipped', disposition: 'window', answered: false, placed: false }, 'skipped'],
    [{ status: 'canceled', endReason: 'skipped', disposition: 'paused', answered: false }, 'skipped'],
    [{ endReason: 'abandoned', disposition: 'abandoned', answered: false, durationMs: 0 }, 'abandoned'],
    [{ endReason: 'abandoned', disposition: 'abandoned' }, 'abandoned'],
    [{ status: 'canceled', endReason: 'api_hangup', answered: false, placed: false }, 'skipped'],
    [{ status: 'canceled', endReason: 'api_hangup', answered: false }, 'canceled'],
  ]
  for (const [call, outcome] of cases) t.equal(attemptOutcomeOf({ ...ended, ...call }), outcome, JSON.stringify(call))
})

t.test('what is final is final, and what is suppressed stays suppressed', async (t) => {
  const final = (outcome: (typeof OUTCOMES)[number], policy = POLICY) => decide(outcome, NONE, policy, AT).resolution
  t.equal(final('reached'), 'reached')
  t.equal(final('declined'), 'do_not_call')
  t.equal(final('opted_out'), 'opted_out')
  t.equal(final('invalid_number'), 'invalid_number')
  t.equal(final('voicemail'), undefined)
  t.equal(final('voicemail', { ...POLICY, voicemailResolves: true }), 'voicemail')
  t.equal(decide('skipped', NONE, POLICY, AT, { skippedFor: 'do_not_call' }).resolution, 'do_not_call')
  t.equal(
    decide('opted_out', NONE, POLICY, AT, { callBackMs: START }).resolution,
    'opted_out',
    'a call back changes nothing',
  )
})

t.test('a call back that was promised comes at its time', async (t) => {
  const callBackMs = START + 3 * 3_600_000
  t.match(decide('reached', NONE, POLICY, AT, { callBackMs }), { resolution: undefined, nextAttemptMs: callBackMs })
})

t.test('each outcome has its own wait, never shorter than the gap', async (t) => {
  const wait = (outcome: (typeof OUTCOMES)[number], minMinutesBetween: number, more = {}) =>
    (decide(outcome, NONE, { ...POLICY, minMinutesBetween }, AT, more).nextAttemptMs! - AT.endedMs) / MINUTE_MS
  t.equal(wait('busy', 5), 20)
  t.equal(wait('busy', 30), 30)
  t.ok(wait('voicemail', 5) >= 240)
  t.equal(wait('no_answer', 5), 5)
  t.equal(wait('abandoned', 5), 5)
  t.equal(wait('unknown', 7), 7, 'as long as after no answer')
  t.equal(wait('skipped', 30, { skippedFor: 'window' }), 0, 'its hours say when')
  t.equal(wait('skipped', 30, { skippedFor: 'webhook' }), 30, 'a webhook that said no is not asked at once')
})

t.test('a call that took place ends a row of faults, one that was skipped does not', async (t) => {
  const row = { ...NONE, faultsInARow: 3 }
  t.equal(decide('busy', row, POLICY, AT).faultsInARow, 0)
  t.equal(decide('skipped', row, POLICY, AT).faultsInARow, 3)
  t.equal(decide('fault', row, POLICY, AT).faultsInARow, 4)
})

const anyOutcome = fc.constantFrom(...OUTCOMES)
const anyPolicy = fc.record({
  retry: fc.record(
    Object.fromEntries(
      (['busy', 'no_answer', 'voicemail', 'hung_up', 'fault'] as const).map((name) => [
        name,
        fc.record({ afterMinutes: fc.integer({ min: 0, max: 600 }), otherPartOfDay: fc.boolean() }),
      ]),
    ),
    { requiredKeys: [] },
  ),
  maxNumberCalls: fc.integer({ min: 1, max: 12 }),
  minMinutesBetween: fc.integer({ min: 0, max: 600 }),
  voicemailResolves: fc.boolean(),
})
const anyHistory = fc.array(anyOutcome, { maxLength: 30 })

t.test(
  'over any history no prospect is charged more attempts than it may have, and each charged one keeps the gap',
  async () => {
    fc.assert(
      fc.property(
        anyPolicy,
        anyHistory,
        fc.constantFrom('America/New_York', 'Pacific/Honolulu'),
        (policy, outcomes, zone) => {
          let state: Parameters<typeof decide>[1] = NONE
          let ms = START
          for (const outcome of outcomes) {
            const at = { startedMs: ms, endedMs: ms + MINUTE_MS, zone }
            const decision = decide(outcome, state, policy as RetryPolicy, at)
            state = {
              attempts: state.attempts + Number(decision.charged),
              faultsInARow: decision.faultsInARow,
              partsTried: decision.partsTried,
            }
            if (state.attempts > policy.maxNumberCalls) throw new Error('too many attempts')
            if (decision.resolution !== undefined) return
            if (state.attempts === policy.maxNumberCalls && decision.charged)
              throw new Error('it goes on after the last attempt')
            const next = decision.nextAttemptMs
            if (next === undefined || next < at.endedMs) throw new Error('neither resolved nor due')
            if (decision.charged && next < at.endedMs + policy.minMinutesBetween * MINUTE_MS) throw new Error('the gap')
            ms = next
          }
        },
      ),
      { numRuns: 2_000 },
    )
  },
)

t.test('voicemails are spread over morning, midday and evening', async () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 30 * 24 * 60 }),
      fc.constantFrom('America/New_York', 'Asia/Kolkata'),
      fc.constantFrom(60, 240, 720, 1_440),
      (minutes, zone, afterMinutes) => {
        const policy = { ...POLICY, retry: { voicemail: { afterMinutes, otherPartOfDay: true } } }
        let state: Parameters<typeof decide>[1] = NONE
        let ms = START + minutes * MINUTE_MS
        const parts: string[] = []
        for (let attempt = 0; attempt < 6; attempt++) {
          parts.push(partOfDay(ms, zone))
          const decision = decide('voicemail', state, policy, { startedMs: ms, endedMs: ms + MINUTE_MS, zone })
          state = { attempts: 0, faultsInARow: 0, partsTried: decision.partsTried }
          ms = decision.nextAttemptMs!
        }
        for (let at = 0; at + 3 <= 3; at++) {
          if (new Set(parts.slice(at, at + 3)).size !== PARTS_OF_DAY.length) throw new Error(parts.join(' '))
        }
        for (let at = 1; at < parts.length; at++) if (parts[at] === parts[at - 1]) throw new Error(parts.join(' '))
      },
    ),
    { numRuns: 500 },
  )
})

t.test('faults of a carrier are charged to nobody, and the fourth in a row is final', async (t) => {
  let state: Parameters<typeof decide>[1] = NONE
  const waits: number[] = []
  for (let n = 0; n < 3; n++) {
    const decision = decide('fault', state, POLICY, AT)
    t.notOk(decision.charged)
    waits.push((decision.nextAttemptMs! - AT.endedMs) / MINUTE_MS)
    state = { ...state, faultsInARow: decision.faultsInARow }
  }
  t.same(waits, [2, 8, 30])
  t.match(decide('fault', state, POLICY, AT), { charged: false, resolution: 'failed', nextAttemptMs: undefined })
  const own = decide('fault', state, POLICY, AT, { isOwnFault: true })
  t.match(own, { resolution: undefined, faultsInARow: 3, nextAttemptMs: AT.endedMs + 2 * MINUTE_MS }, 'not ours')
})

import { attemptOutcomeOf, decide, type PartOfDay } from '../../runtime/dialing/retry.ts'
import { cancelQueuedCall } from '../../store/calls/cancel-calls.ts'
import { publishBlockedNumbers } from '../../store/campaigns/blocked-numbers.ts'
import { addDoNotCall } from '../../store/campaigns/do-not-call.ts'
import {
  type EndedAttempt,
  MOST_SETTLED_AT_ONCE,
  overdueCalls,
  type Settled,
  settleAttempts,
} from '../../store/campaigns/prospect-settling.ts'
import type { Campaign } from '../../store/database/schema.ts'
import type { Tenant } from '../../store/database/tenant.ts'
import { retryPolicyOf } from './policy.ts'

/** On top of `max_wait_time`: what a call may wait for a process that places it. */
const PLACING_MARGIN_MS = 120_000

/** Gives every attempt whose call is over its outcome, and its prospect the next attempt or a resolution. */
export async function settleCampaign(tenant: Tenant, campaign: Campaign, now: Date): Promise<void> {
  const deadline = new Date(now.getTime() - campaign.max_wait_time * 1_000 - PLACING_MARGIN_MS)
  for (const callId of await overdueCalls(tenant, campaign.id, deadline)) await cancelQueuedCall(tenant, callId, now)
  const policy = retryPolicyOf(campaign)
  for (;;) {
    const settled = await settleAttempts(tenant, campaign.id, (attempt) => settle(attempt, policy), now)
    const declined = settled.filter(({ outcome }) => outcome === 'declined')
    await addDoNotCall(
      tenant,
      declined.map(({ attempt }) => ({
        phone: attempt.phone,
        reason: 'Declined by the callee',
        source: 'call' as const,
        callId: attempt.call_id,
      })),
      now,
    )
    const blocked = settled.flatMap(({ attempt, outcome }) => (outcome === 'blocked' ? [attempt] : []))
    await publishBlockedNumbers(tenant, blocked, now)
    if (settled.length < MOST_SETTLED_AT_ONCE) return
  }
}

function settle(attempt: EndedAttempt, policy: ReturnType<typeof retryPolicyOf>): Settled {
  const outcome = attempt.opted_out
    ? 'opted_out'
    : attemptOutcomeOf({
        status: attempt.status,
        endReason: attempt.end_reason ?? '',
        disposition: attempt.disposition ?? '',
        answeredBy: attempt.answered_by,
        answered: attempt.answered_at !== null,
        placed: attempt.placed_at !== null,
        durationMs: attempt.duration_ms ?? 0,
      })
  const history = {
    attempts: attempt.attempts ?? 0,
    faultsInARow: attempt.faults_in_row ?? 0,
    partsTried: (attempt.parts_tried ?? []) as PartOfDay[],
  }
  const at = {
    startedMs: attempt.created_at.getTime(),
    endedMs: attempt.ended_at.getTime(),
    zone: attempt.zones?.[0] ?? 'UTC',
  }
  const decision = decide(outcome, history, policy, at, {
    skippedFor: outcome === 'skipped' ? (attempt.disposition ?? undefined) : undefined,
    callBackMs: attempt.call_back_at?.getTime(),
    isOwnFault: attempt.placed_at === null,
  })
  return {
    attempt,
    outcome,
    charged: decision.charged,
    resolution: decision.resolution,
    nextAttemptAt: decision.nextAttemptMs === undefined ? undefined : new Date(decision.nextAttemptMs),
    faultsInARow: decision.faultsInARow,
    partsTried: decision.partsTried,
  }
}

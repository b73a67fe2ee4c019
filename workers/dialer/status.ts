import { judgePlace, Moment, nextOpening } from '../../runtime/dialing/eligibility.ts'
import { openingsOf } from '../../runtime/dialing/openings.ts'
import type { CallingRules } from '../../runtime/dialing/rules.ts'
import type { Places } from '../../runtime/dialing/zones.ts'
import { glanceAt } from '../../store/campaigns/campaign-glance.ts'
import { type Progress, restOf } from '../../store/campaigns/campaign-status.ts'
import { windowGroupsById } from '../../store/campaigns/window-groups.ts'
import type { Store } from '../../store/database/database.ts'
import type { Campaign } from '../../store/database/schema.ts'
import type { Tenant } from '../../store/database/tenant.ts'
import type { RedisClient } from '../../store/redis/client.ts'
import { countSlots } from '../../store/redis/slots.ts'
import { workerPoolOf } from '../../store/workspaces/worker-pools.ts'
import { policyOf } from './policy.ts'

/** What a campaign does now, and if nothing, why. */

type CampaignActivity = 'Running' | 'Stopped' | 'Completed' | 'Inactive'

type StopReason =
  | 'paused'
  | 'outside_calling_hours'
  | 'waiting_for_retry'
  | 'no_agent'
  | 'no_number'
  | 'no_capacity'
  | 'budget_reached'
  | 'too_many_failures'
  | 'numbers_blocked'
  | 'no_prospects'
  | 'all_held'

/** What the last tick wrote down. */
export interface LastTick {
  at: string
  seats: number
  placed: number
  effective_ratio: number
  why: string
}

export function stateOf(
  campaign: { active: boolean },
  { live, unresolved }: Pick<Progress, 'live' | 'unresolved'>,
): CampaignActivity {
  if (!campaign.active) return 'Inactive'
  if (unresolved === 0) return 'Completed'
  return live > 0 ? 'Running' : 'Stopped'
}

/** Those who wait where the same hours hold. */
interface ZoneCount {
  zones: string[]
  regions: string[]
  waiting: number
  callable_now: number
  /** When they may be called next; null: now, or their location is unknown, or never. */
  opens_at: string | null
}

/** Maximum listed, of the few hundred there may be. */
const MOST_ZONES = 100
const WAITING = /^(fresh|retry)(_unasked)?$/

export async function campaignStatus(
  services: { store: Store; redis: RedisClient; calling: { rules: CallingRules; places: Places } },
  tenant: Tenant,
  campaign: Campaign,
  now: Date,
) {
  const { store, redis, calling } = services
  const nowMs = now.getTime()
  const policy = policyOf(campaign, calling.places)
  const glance = await glanceAt(tenant, campaign, now)
  const { agent_id: agentId } = campaign
  const { workspaceId } = tenant
  const pool = await workerPoolOf(store, { agentId, workspaceId, number: glance.numbers[0]?.number })
  const { ready } = await countSlots(redis, pool)
  const { buckets, calls, sums, numbers, callBacks } = glance
  const waiting = buckets.filter(({ bucket }) => WAITING.test(bucket))
  const groups = await windowGroupsById(store, [...new Set(waiting.map(({ windowGroup }) => windowGroup))])
  const retries = new Map(glance.retries.map((row) => [row.windowGroup, row]))

  const held: Record<string, number> = {}
  const hold = (reason: string, n: number) => {
    if (n > 0) held[reason] = (held[reason] ?? 0) + n
  }
  const moment = new Moment(nowMs)
  const opening = openingsOf(policy, calling.rules)
  let callable = 0
  let nextMs: number | undefined
  const earliest = (ms: number | undefined) => {
    if (ms !== undefined && (nextMs === undefined || ms < nextMs)) nextMs = ms
  }
  const byZone: ZoneCount[] = []
  for (const [id, where] of groups) {
    const verdict = judgePlace(where, policy, calling.rules, moment)
    const opensMs = verdict.open ? nowMs : opening(where, nowMs)
    const callableBefore = callable
    const mine = waiting.filter(({ windowGroup }) => windowGroup === id)
    const row = retries.get(id)
    // Kept counts know retries, not which of them are due.
    let due = row?.due ?? 0
    for (const { listActive, bucket, n } of mine) {
      if (!verdict.open) hold(verdict.reason, n)
      else if (!listActive) hold('list_inactive', n)
      else if (policy.consentRequired && bucket.endsWith('_unasked')) hold('consent', n)
      else if (bucket.startsWith('fresh')) callable += n
      else {
        const ripe = Math.min(due, n)
        due -= ripe
        callable += ripe
        hold('retry_wait', n - ripe)
      }
      const mayCall = listActive && !(policy.consentRequired && bucket.endsWith('_unasked'))
      if (!mayCall) continue
      const fromMs =
        bucket.startsWith('fresh') || (row?.due ?? 0) > 0 ? nowMs : (row?.next?.getTime() ?? Number.POSITIVE_INFINITY)
      if (fromMs === nowMs) earliest(opensMs)
      // The order of waiting makes no difference.
      else if (fromMs < (nextMs ?? Number.POSITIVE_INFINITY)) {
        earliest(nextOpening(where, policy, calling.rules, fromMs))
      }
    }
    byZone.push({
      zones: [...where.zones],
      regions: [...where.regions],
      waiting: mine.reduce((sum, { n }) => sum + n, 0),
      callable_now: callable - callableBefore,
      opens_at: verdict.open || opensMs === undefined ? null : new Date(opensMs).toISOString(),
    })
  }
  const restMs = numbers.flatMap((one) => restOf(one, now) ?? [])
  const allRest = numbers.length > 0 && restMs.length === numbers.length
  if (allRest) {
    hold('number_blocked', callable)
    callable = 0
    for (const one of byZone) one.callable_now = 0
    const freeMs = Math.min(...restMs)
    if (nextMs !== undefined && nextMs < freeMs) nextMs = freeMs
  }
  const cap = campaign.max_calls_per_number_per_day
  if (cap > 0 && numbers.length > 0 && numbers.every(({ attempts }) => attempts >= cap)) {
    hold('number_cap', callable)
    callable = 0
    for (const one of byZone) one.callable_now = 0
  }

  const byResolution: Record<string, number> = {}
  let total = 0
  let unresolved = 0
  for (const { bucket, n } of buckets) {
    total += n
    if (WAITING.test(bucket) || bucket === 'calling') unresolved += n
    else byResolution[bucket] = (byResolution[bucket] ?? 0) + n
  }
  const unsettled = buckets.reduce((sum, { bucket, n }) => (bucket === 'calling' ? sum + n : sum), 0)
  const live = calls.placing + calls.ringing + calls.talking + calls.waiting
  const status = stateOf(campaign, { live, unresolved })
  const lastTick = glance.lastTick as LastTick | undefined
  const pause = campaign.paused ? ((campaign.pause_reason as StopReason | null) ?? 'paused') : undefined
  const reason =
    status === 'Stopped' ? (pause ?? reasonOf()) : status === 'Completed' && total === 0 ? 'no_prospects' : null
  // Nobody is called from nowhere.
  const hasCaller = glance.hasAgent && numbers.length > 0

  function reasonOf(): StopReason | null {
    if (!glance.hasAgent) return 'no_agent'
    if (numbers.length === 0) return 'no_number'
    if (allRest) return 'numbers_blocked'
    if (callable > 0) return ready === 0 || (lastTick !== undefined && lastTick.seats <= 0) ? 'no_capacity' : null
    if ((held.retry_wait ?? 0) > 0) return 'waiting_for_retry'
    if ((held.window ?? 0) + (held.holiday ?? 0) > 0) return 'outside_calling_hours'
    // Their calls have just ended; the next tick settles them.
    return unsettled > 0 ? null : 'all_held'
  }

  const { today, month, cost } = sums
  return {
    slug: campaign.slug,
    status,
    reason,
    active_calls: live,
    calls: { placing: calls.placing, ringing: calls.ringing, talking: calls.talking, waiting: calls.waiting },
    ready_agents: ready,
    prospects: {
      total,
      unresolved,
      resolved: total - unresolved,
      by_resolution: byResolution,
      callable_now: callable,
      by_zone: byZone.sort((a, b) => b.waiting - a.waiting).slice(0, MOST_ZONES),
      held,
      call_backs: callBacks,
    },
    reason_after_start: pause !== undefined && unresolved > 0 ? reasonOf() : null,
    next_call_at: unresolved > 0 && hasCaller && nextMs !== undefined ? new Date(nextMs).toISOString() : null,
    today,
    answer_rate: today.attempts === 0 ? null : today.answered / today.attempts,
    abandoned_rate_30d: month.humans === 0 ? null : month.abandoned / month.humans,
    pacing: {
      call_ratio: campaign.call_ratio,
      effective_ratio: lastTick?.effective_ratio ?? Math.min(1, campaign.call_ratio),
      why: lastTick?.why ?? 'The dialer has not looked at this campaign yet',
    },
    cost,
    updated_at: now.toISOString(),
  }
}

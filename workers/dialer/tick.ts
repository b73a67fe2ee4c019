import type { CallRoom } from '../../runtime/admission/call-room.ts'
import { callsPer24h, judgePlace, Moment } from '../../runtime/dialing/eligibility.ts'
import { type AnswerHistory, NO_HISTORY } from '../../runtime/dialing/over-dialing.ts'
import { pace } from '../../runtime/dialing/pacing.ts'
import type { CallingRules } from '../../runtime/dialing/rules.ts'
import { SourceNumberChooser } from '../../runtime/dialing/source-number.ts'
import type { Places } from '../../runtime/dialing/zones.ts'
import type { Clock } from '../../runtime/lib/clock.ts'
import type { Logger } from '../../runtime/process/log.ts'
import { agentById } from '../../store/agents/agents.ts'
import { noteCompletion, writeLastTick } from '../../store/campaigns/campaign-runs.ts'
import {
  answersOf,
  bucketsOf,
  callStatesOf,
  daySumsOf,
  progressOf,
  restOf,
  runOf,
  sourceNumbersOf,
} from '../../store/campaigns/campaign-status.ts'
import { campaignById, pauseCampaign } from '../../store/campaigns/campaigns.ts'
import { type ClaimedCall, claimProspects } from '../../store/campaigns/prospect-claims.ts'
import { recentFaults } from '../../store/campaigns/prospect-settling.ts'
import { windowGroupsById } from '../../store/campaigns/window-groups.ts'
import type { Store } from '../../store/database/database.ts'
import type { Campaign, Prospect } from '../../store/database/schema.ts'
import type { Tenant } from '../../store/database/tenant.ts'
import { workerPoolOf } from '../../store/workspaces/worker-pools.ts'
import { policyOf } from './policy.ts'
import { settleCampaign } from './settle.ts'
import type { LastTick } from './status.ts'

export interface TickServices {
  store: Store
  room: CallRoom
  calling: { rules: CallingRules; places: Places }
  clock: Clock
  log: Logger
  place(call: { id: string; workspace_id: string }, waitMs: number, ahead: number): Promise<void>
}

/** Calls made in one transaction: others of the workspace wait for it. */
export const MOST_CLAIMED_AT_ONCE = 25
const MOST_A_TURN = 500
const WAITING = /^(fresh|retry)(_unasked)?$/

/**
 * One turn of a campaign: settle what ended, pause it where its budget or its failures say so, then call as many as seats,
 * caps and hours allow. A late or doubled turn is harmless: the claim decides.
 */
export async function tickCampaign(services: TickServices, tenant: Tenant, campaignId: string): Promise<void> {
  const { store, room, clock, log, place } = services
  const unit = `campaign:${campaignId}`
  const now = new Date(clock.nowMs())
  const campaign = await campaignById(tenant, campaignId)
  if (campaign === undefined) return await room.leave(unit)
  await settleCampaign(tenant, campaign, now)
  await tellCompletion(tenant, campaign, now)
  const rests = !campaign.active || campaign.paused || (await pauseWhereDue(tenant, campaign, now, log))
  const agent = campaign.agent_id === null ? undefined : await agentById(tenant, campaign.agent_id)
  const numbers = (await sourceNumbersOf(tenant, campaign, now)).filter((one) => restOf(one, now) === undefined)
  if (rests || agent === undefined || numbers.length === 0) {
    await room.leave(unit)
    return
  }
  const chooser = new SourceNumberChooser(
    numbers.map(({ number, attempts, lastAt }) => ({ number, attempts, lastMs: lastAt?.getTime() })),
    campaign.max_calls_per_number_per_day,
  )
  const { groups, waiting } = await openGroups(services, tenant, campaign, now)
  const { seats: taken, ...calls } = await callStatesOf(tenant, campaignId)
  const history = await historyOf(tenant, campaign, now)
  const limits = () => ({
    callRatio: campaign.call_ratio,
    pacing: campaign.pacing,
    maxActiveCalls: campaign.max_active_calls,
    numberRoom: chooser.room,
  })
  const underWay = calls.placing + calls.ringing + calls.waiting
  const capped = pace({ ...calls, seats: underWay + MOST_A_TURN }, { ...limits(), callRatio: 1 }, NO_HISTORY)
  const wanted = Math.min(waiting, MOST_A_TURN, capped.place)
  // What holds the campaign where no seat beyond those of its own calls is free.
  const full = pace({ ...calls, seats: taken }, limits(), history)
  let tick: LastTick = {
    at: now.toISOString(),
    seats: 0,
    placed: 0,
    effective_ratio: full.effectiveRatio,
    why: waiting === 0 ? 'Nobody may be called right now' : capped.place === 0 ? capped.why : full.why,
  }
  const made: ClaimedCall[] = []
  const againMs = campaign.dialer_interval * 1_000
  const { workspaceId } = tenant
  // A campaign goes by the first of its numbers.
  const pool = await workerPoolOf(store, { agentId: agent.id, workspaceId, number: numbers[0]?.number })
  await room.claim({ workspaceId, unit, wanted, againMs, pool }, async (most, mostCalls) => {
    const order = {
      campaign,
      agent: { id: agent.id, name: agent.agent_name },
      groups,
      chooseNumber: ({ phone, from_number, disposition }: Prospect) =>
        chooser.choose({ phone, before: from_number, wasBlocked: disposition === 'blocked' }, clock.nowMs()),
      now,
    }
    for (;;) {
      // Some have ended since the turn began, and while others were claimed: each claim fills what is free just then.
      const { seats: reckoned, ...underWayNow } = await callStatesOf(tenant, campaignId)
      const seats = most - seatsOf(made)
      const {
        place: allowed,
        effectiveRatio,
        why,
      } = pace({ ...underWayNow, seats: seats + reckoned }, limits(), history)
      const overDials = effectiveRatio > 1
      const left = Math.min(allowed, (overDials ? Math.min(mostCalls, MOST_A_TURN) : most) - made.length)
      const part = Math.min(left, MOST_CLAIMED_AT_ONCE)
      if (part > 0) {
        // The seats there are for all that are left are shared evenly.
        const overDial = overDials ? { overDial: { seats: (seats * part) / left, ratio: effectiveRatio } } : {}
        const claimed = await claimProspects(tenant, { ...order, ...overDial, most: part })
        made.push(...claimed)
        if (claimed.length === MOST_CLAIMED_AT_ONCE) continue
      }
      tick = { ...tick, seats: most, placed: made.length, effective_ratio: effectiveRatio, why }
      return seatsOf(made)
    }
  })
  if (wanted > 0 && made.length >= wanted) await room.leave(unit)
  // A crash here loses no call: the sweep of the job workers queues those that wait too long.
  for (const [i, call] of made.entries()) await place(call, campaign.max_wait_time * 1_000, i)
  await writeLastTick(tenant, campaignId, tick)
}

/** Completion is published to webhooks. */
async function tellCompletion(tenant: Tenant, campaign: Campaign, now: Date): Promise<void> {
  const { total, unresolved } = (await progressOf(tenant, [campaign.id])).get(campaign.id) ?? {
    total: 0,
    unresolved: 0,
  }
  await noteCompletion(tenant, campaign, total > 0 && unresolved === 0, now)
}

/** Inputs of over-dialling; unused by campaigns without it. */
async function historyOf(tenant: Tenant, campaign: Campaign, now: Date): Promise<AnswerHistory> {
  if (campaign.call_ratio <= 1) return NO_HISTORY
  const [answers, { month }] = await Promise.all([
    answersOf(tenant, campaign.id, now),
    daySumsOf(tenant, campaign.id, now),
  ])
  return { ...answers, month: { live: month.humans, abandoned: month.abandoned } }
}

/** The groups whose hours are open in every zone and state now, and how many wait in them. */
async function openGroups({ store, calling }: TickServices, tenant: Tenant, campaign: Campaign, now: Date) {
  const policy = policyOf(campaign, calling.places)
  const buckets = (await bucketsOf(tenant, campaign.id)).filter(
    ({ bucket, listActive }) =>
      WAITING.test(bucket) && listActive && !(policy.consentRequired && bucket.endsWith('_unasked')),
  )
  const moment = new Moment(now.getTime())
  const all = await windowGroupsById(store, [...new Set(buckets.map(({ windowGroup }) => windowGroup))])
  const groups = [...all].flatMap(([id, where]) => {
    if (!judgePlace(where, policy, calling.rules, moment).open) return []
    const clocks = where.zones.map((zone) => `${timeOf(moment.wall(zone).secondOfDay)} in ${zone}`)
    return [
      { id, maxPer24h: callsPer24h(where, calling.rules), check: `${clocks.join(', ')}: ${where.regions.join(', ')}` },
    ]
  })
  const open = new Set(groups.map(({ id }) => id))
  const waiting = buckets.reduce((sum, { windowGroup, n }) => (open.has(windowGroup) ? sum + n : sum), 0)
  return { groups, waiting }
}

const seatsOf = (calls: readonly ClaimedCall[]): number =>
  calls.reduce((sum, { seat_share }) => sum + (seat_share ?? 1), 0)

const timeOf = (second: number): string =>
  `${String(Math.floor(second / 3_600)).padStart(2, '0')}:${String(Math.floor(second / 60) % 60).padStart(2, '0')}`

/** True when the campaign paused itself. */
async function pauseWhereDue(tenant: Tenant, campaign: Campaign, now: Date, log: Logger): Promise<boolean> {
  const pause = async (reason: 'budget_reached' | 'too_many_failures', facts: object) => {
    log.warn({ campaign: campaign.slug, reason, ...facts }, 'The campaign pauses itself')
    await pauseCampaign(tenant, campaign.slug, true, now, reason)
    return true
  }
  if (campaign.budget !== null) {
    const { cost } = await daySumsOf(tenant, campaign.id, now)
    if (cost >= campaign.budget) return pause('budget_reached', { cost, budget: campaign.budget })
  }
  if (campaign.stop_when !== null) {
    const { failure_rate, window } = campaign.stop_when
    const run = await runOf(tenant, campaign.id)
    const { attempts, faults } = await recentFaults(tenant, campaign.id, run?.resumed_at ?? now, window)
    if (attempts >= window && faults / attempts >= failure_rate) return pause('too_many_failures', { attempts, faults })
  }
  return false
}

import { sql } from 'kysely'
import { uuidv7 } from 'uuidv7'
import type { Campaign, Prospect } from '../database/schema.ts'
import type { Tenant } from '../database/tenant.ts'
import { expiryOf } from '../prospects/prospects.ts'

/** Prospects become calls here, and nowhere else. */

interface ClaimOrder {
  /** Read for this tick: a campaign that was changed since is left alone. */
  campaign: Campaign
  agent: { id: string; name: string }
  /** Window groups that are open now, with the most attempts the law allows on a number within 24 hours. */
  groups: readonly { id: number; maxPer24h: number | undefined; check: string }[]
  most: number
  /** Total seats taken and calls per seat, when calls are dialled without one of their own; undefined: each has its own. */
  overDial?: { seats: number; ratio: number }
  /** Called once for each that is claimed; undefined: no number may call. */
  chooseNumber(prospect: Prospect): string | undefined
  now: Date
}

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
/** Looked at for each one taken: some are held after all. */
const SPARE = 1.25
const BUSY_NUMBER_MS = 60_000

export interface ClaimedCall {
  id: string
  workspace_id: string
  /** The part of a seat the call is reckoned with; null: it gets one of its own. */
  seat_share: number | null
}

type Candidate = Prospect & {
  listed: boolean
  open_number: boolean
  last_touch: Date | null
  /** Charged attempts on the number within 24 hours, by any campaign, newest first. */
  day_attempts: Date[] | null
}

/**
 * Takes at most `most` prospects that may be called at this instant, makes their attempts and calls, queued, in one
 * transaction. Claims of a workspace come one after the other, each with a view of its own: what one has taken, the next one
 * sees. Returns the calls to place.
 */
export function claimProspects(tenant: Tenant, order: ClaimOrder): Promise<ClaimedCall[]> {
  const { campaign, groups, most } = order
  if (groups.length === 0 || most <= 0) return Promise.resolve([])
  return tenant.db.transaction().execute(async (db) => {
    const bound: Tenant = { workspaceId: tenant.workspaceId, db }
    if (!(await begin(bound, campaign))) return []
    const candidates = await candidatesOf(bound, order)
    const taken: { prospect: Prospect; from: string; check: string }[] = []
    const held: { id: string; held: Held }[] = []
    const phones = new Set<string>()
    for (const candidate of candidates) {
      if (taken.length === most) break
      const group = groups.find(({ id }) => id === candidate.window_group)
      const verdict = judge(candidate, order, group?.maxPer24h, phones)
      if (verdict === 'call') {
        const from = order.chooseNumber(candidate)
        if (from === undefined) break
        phones.add(candidate.phone)
        taken.push({ prospect: candidate, from, check: group?.check ?? '' })
      } else held.push({ id: candidate.id, held: verdict })
    }
    return write(bound, order, taken, held)
  })
}

/**
 * Waits for the workspace's claims before this one; false: the campaign has changed. No one waits until the claim is on
 * disk: no carrier is asked before `placed_at` is, which is written later, and the log of the database keeps the order. What a
 * crash takes with it was never dialled, and is claimed again.
 */
async function begin({ db, workspaceId }: Tenant, { id, version }: Campaign): Promise<boolean> {
  const { rows } = await sql<{ current: string | null }>`
    select set_config('synchronous_commit', 'off', true),
      pg_advisory_xact_lock(hashtextextended(${`claims of ${workspaceId}`}, 0)),
      (select id from campaigns where id = ${id} and workspace_id = ${workspaceId} and version = ${version} and active
        and not paused and deleted_at is null for share) as current`.execute(db)
  return rows[0]?.current != null
}

async function candidatesOf(tenant: Tenant, { campaign, groups, most, now }: ClaimOrder): Promise<Candidate[]> {
  const ids = groups.map(({ id }) => id)
  const wanted = Math.ceil(most * SPARE) + 10
  const { workspaceId } = tenant
  const each = (condition: ReturnType<typeof sql>, limit: number) => sql`
    select p.id, p.next_attempt_at from prospects p
    where p.workspace_id = ${workspaceId} and p.campaign_id = ${campaign.id} and p.window_group = g.id
      and p.status = 'waiting' and ${condition}
      and p.list_id in (select l.id from prospect_lists l where l.campaign_id = ${campaign.id}
        and l.workspace_id = ${workspaceId} and l.active and l.deleted_at is null)
      and (${!campaign.consent_required} or p.consent_at is not null)
    order by p.next_attempt_at limit ${sql.lit(limit)}`
  const find = (limit: number) =>
    sql<Candidate>`
      with due as materialized (
        select d.id, d.next_attempt_at from unnest(${ids}::integer[]) as g (id)
        cross join lateral (
          (${each(sql`p.next_attempt_at <= ${now}`, limit)}) union all (${each(sql`p.next_attempt_at is null`, limit)})
        ) as d
        order by d.next_attempt_at nulls last limit ${sql.lit(wanted)}
      )
      select p.*,
        listed.n > 0 as listed,
        coalesce(history.open_number, false) as open_number, history.last_touch, history.day_attempts
      from due join prospects p on p.id = due.id and p.workspace_id = ${workspaceId}
      -- Asked for one by one: as a condition the planner reads the whole list of the workspace for it.
      cross join lateral (
        select count(*) as n from do_not_call n where n.workspace_id = ${workspaceId} and n.phone = p.phone
      ) as listed
      cross join lateral (
        select bool_or(a.ended_at is null) as open_number,
          max(coalesce(a.ended_at, a.created_at)) filter (where a.charged) as last_touch,
          array_agg(a.created_at order by a.created_at desc)
            filter (where a.charged and a.created_at > ${new Date(now.getTime() - DAY_MS)}) as day_attempts
        from prospect_attempts a where a.workspace_id = ${workspaceId} and a.phone = p.phone
      ) as history
      where p.status = 'waiting'
      order by due.next_attempt_at nulls last, p.id
      for update of p skip locked`.execute(tenant.db)
  // A few of each group are enough most of the time; a few hundred groups times all of them are not read for nothing.
  const few = Math.max(5, Math.ceil((wanted * 2) / ids.length))
  const { rows } = await find(Math.min(few, wanted))
  return rows.length >= wanted || few >= wanted ? rows : (await find(wanted)).rows
}

type Held =
  | { resolution: 'do_not_call' | 'exhausted' | 'expired' }
  | { until: Date; reason: 'attempt_cap' | 'retry_wait'; sentence: string }

function judge(
  candidate: Candidate,
  { campaign, now }: ClaimOrder,
  maxPer24h: number | undefined,
  takenPhones: ReadonlySet<string>,
): 'call' | Held {
  const nowMs = now.getTime()
  if (candidate.listed) return { resolution: 'do_not_call' }
  if (candidate.attempts >= campaign.max_number_calls) return { resolution: 'exhausted' }
  const expiresAt = expiryOf(campaign.expire_days, candidate.created_at)
  if (expiresAt !== null && expiresAt.getTime() <= nowMs) return { resolution: 'expired' }
  if (candidate.open_number || takenPhones.has(candidate.phone)) {
    const sentence = 'The number is being called for another prospect'
    return { until: new Date(nowMs + BUSY_NUMBER_MS), reason: 'retry_wait', sentence }
  }
  const gapMs = campaign.min_time_between_calls * MINUTE_MS
  const lastMs = candidate.last_touch?.getTime()
  if (lastMs !== undefined && lastMs + gapMs > nowMs) {
    const sentence = `The number was called at ${new Date(lastMs).toISOString()}; min_time_between_calls is ${campaign.min_time_between_calls} minutes`
    return { until: new Date(lastMs + gapMs), reason: 'retry_wait', sentence }
  }
  const attempts = candidate.day_attempts ?? []
  if (maxPer24h !== undefined && attempts.length >= maxPer24h) {
    const until = new Date((attempts[maxPer24h - 1]?.getTime() ?? nowMs) + DAY_MS)
    const sentence = `The law allows ${maxPer24h} calls within 24 hours on this number`
    return { until, reason: 'attempt_cap', sentence }
  }
  return 'call'
}

/** One statement: calls, their attempts and what becomes of the prospects, those that are held after all among them. */
async function write(
  { db, workspaceId }: Tenant,
  { campaign, agent, overDial, now }: ClaimOrder,
  taken: readonly { prospect: Prospect; from: string; check: string }[],
  held: readonly { id: string; held: Held }[],
): Promise<ClaimedCall[]> {
  if (taken.length + held.length === 0) return []
  const seatShare = overDial === undefined ? null : Math.min(1 / overDial.ratio, overDial.seats / taken.length)
  const rows = taken.map(({ prospect, from, check }) => ({
    ...{
      id: uuidv7(),
      attempt: uuidv7(),
      prospect: prospect.id,
      n: prospect.attempt_seq + 1,
      phone: prospect.phone,
      from,
    },
    variables: variablesOf(prospect),
    external_id: prospect.external_id === '' ? null : prospect.external_id,
    metadata: prospect.metadata,
    checks: {
      window: check,
      do_not_call: 'not listed',
      consent: prospect.consent_at?.toISOString() ?? (campaign.consent_required ? 'missing' : 'not required'),
      attempts: `${prospect.attempts} of ${campaign.max_number_calls}`,
      version: String(campaign.version),
    },
  }))
  await sql`
    with made as materialized (
      select * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as t
        (id uuid, attempt uuid, prospect uuid, n integer, phone text, "from" text, variables jsonb, external_id text,
          metadata jsonb, checks jsonb)
    ), held as (
      update prospects p set
        status = case when t.resolution is null then p.status else 'resolved' end, resolution = t.resolution,
        next_attempt_at = t.until, call_back_at = case when t.resolution is null then p.call_back_at end,
        held_reason = coalesce(t.reason, p.held_reason), held_sentence = coalesce(t.sentence, p.held_sentence)
      from jsonb_to_recordset(${JSON.stringify(held.map(({ id, held }) => ({ id, ...held })))}::jsonb) as t
        (id uuid, resolution text, until timestamptz, reason text, sentence text)
      where p.id = t.id and p.workspace_id = ${workspaceId}
    ), calling as (
      insert into calls (id, workspace_id, agent_id, agent_name, call_type, direction, status, from_number, to_number,
        dynamic_variables, prospect_id, external_id, metadata, campaign_slug, campaign_id, seat_share, created_at)
      select id, ${workspaceId}::uuid, ${agent.id}::uuid, ${agent.name}::text, 'phone', 'outbound', 'queued', "from", phone,
        variables, prospect, external_id, metadata, ${campaign.slug}::text, ${campaign.id}::uuid, ${seatShare}::double precision, ${now}::timestamptz
      from made
    ), attempted as (
      insert into prospect_attempts (id, workspace_id, campaign_id, prospect_id, n, phone, from_number, call_id, created_at,
        checks)
      select attempt, ${workspaceId}::uuid, ${campaign.id}::uuid, prospect, n, phone, "from", id, ${now}::timestamptz, checks
      from made
    )
    update prospects p set status = 'calling', attempt_seq = made.n, last_attempt_at = ${now}, from_number = made."from",
      last_call_id = made.id,
      next_attempt_at = null, call_back_at = null, call_back_missed_at = null, held_reason = null, held_sentence = null
    from made where p.id = made.prospect and p.workspace_id = ${workspaceId}`.execute(db)
  return rows.map(({ id }) => ({ id, workspace_id: workspaceId, seat_share: seatShare }))
}

/** What the agent knows of a prospect: the same on every attempt. */
export function variablesOf(prospect: Prospect): Record<string, string> {
  const { first_name, last_name, email, state, postal_code, external_id, phone } = prospect
  return { ...prospect.variables, first_name, last_name, email, state, postal_code, external_id, primary_phone: phone }
}

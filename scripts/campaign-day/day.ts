import { join } from 'node:path'
import { pino } from 'pino'
import { uuidv7 } from 'uuidv7'
import { CreateCampaign, columnsOf } from '../../api/campaigns/schema.ts'
import { compileCheck } from '../../api/schema.ts'
import { type Behaviour, behaviourOf } from '../../plugins/sim/telephony-behaviour.ts'
import type { CallRoom } from '../../runtime/admission/call-room.ts'
import { loadCallingRules } from '../../runtime/dialing/rules.ts'
import { shippedPlaces } from '../../runtime/dialing/zones.ts'
import type { Clock } from '../../runtime/lib/clock.ts'
import { wallClock } from '../../runtime/lib/zoned-time.ts'
import { markPlaced } from '../../store/calls/outbound-calls.ts'
import { progressOf } from '../../store/campaigns/campaign-status.ts'
import { type CampaignFields, insertCampaign } from '../../store/campaigns/campaigns.ts'
import { addDoNotCall } from '../../store/campaigns/do-not-call.ts'
import { windowGroupOf } from '../../store/campaigns/window-groups.ts'
import { openStore, type Store } from '../../store/database/database.ts'
import { migrate } from '../../store/database/migrate.ts'
import type { Call } from '../../store/database/schema.ts'
import type { Tenant } from '../../store/database/tenant.ts'
import { startEmbedded } from '../../store/embedded/embedded.ts'
import { insertProspect } from '../../store/prospects/prospects.ts'
import { createDialCheck } from '../../workers/dialer/before-dial.ts'
import { tickCampaign } from '../../workers/dialer/tick.ts'

const PROSPECTS = 500
/** Four zones; Florida and Texas have hours of their own. */
const AREAS = ['212', '305', '312', '713', '303', '415']
const SEATS = 12
const STEP_MS = 60_000
/** A Monday, from before New York wakes until Hawaii would. */
const DAY_START = Date.parse('2026-03-02T11:00:00Z')
const DAY_END = Date.parse('2026-03-03T06:00:00Z')
const MIN_GAP_MINUTES = 60
const MOST_ATTEMPTS = 4
const POPULATION = { answer_rate: 0.45, human: 0.75, busy: 0.08, invalid: 0.03, talk_seconds: [30, 240] as const }
const CALLEES = { seed: 7, timeScale: 1, mix: {}, population: POPULATION }
const NUMBERS = ['+12125550100', '+13055550100', '+14155550100']

interface Live {
  call: Call
  endsMs: number
  behaviour: Behaviour
}

/** Plays the day. `broken`: the promises that were not kept, each with an example. */
export async function campaignDay(
  folder: string,
  options: { searchPath: string | undefined; show(line: string): void },
): Promise<{ broken: string[]; summary: string }> {
  const log = pino({ level: 'silent' })
  const services = await startEmbedded({
    dataDir: join(folder, 'data'),
    log,
    postgres: true,
    redis: false,
    searchPath: options.searchPath,
  })
  const databaseUrl = services.databaseUrl ?? ''
  await migrate(databaseUrl, log)
  const store = openStore({ databaseUrl })
  try {
    return await play(store, log, options.show)
  } finally {
    await store.close()
    await services.stop(5_000)
  }
}

async function play(store: Store, log: pino.Logger, show: (line: string) => void) {
  let nowMs = DAY_START
  const clock: Clock = { nowMs: () => nowMs, monotonicMs: () => nowMs }
  const calling = { rules: await loadCallingRules(), places: shippedPlaces() }
  const { tenant, campaignId, refused } = await furnish(store, calling, new Date(nowMs))
  const check = createDialCheck({ calling, clock })
  const live = new Map<string, Live>()
  const dialled: { phone: string; atMs: number }[] = []
  const attemptsOn = new Map<string, number>()
  const queued: string[] = []
  const room: CallRoom = {
    async claim({ wanted }, take) {
      const free = SEATS - live.size - queued.length
      return wanted > 0 && free > 0 ? take(free, free) : 0
    },
    leave: async () => {},
  }
  const readCall = (id: string) =>
    tenant.db.selectFrom('calls').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
  const end = (id: string, fields: Record<string, unknown>) =>
    tenant.db
      .updateTable('calls')
      .set({ ended_at: new Date(nowMs), duration_ms: 0, ...fields })
      .where('id', '=', id)
      .execute()

  for (; nowMs < DAY_END; nowMs += STEP_MS) {
    for (const [id, one] of live) {
      if (one.endsMs > nowMs) continue
      live.delete(id)
      await end(id, endOf(one, nowMs))
    }
    await tickCampaign(
      { store, room, calling, clock, log, place: async (call) => void queued.push(call.id) },
      tenant,
      campaignId,
    )
    for (const id of queued.splice(0)) {
      const call = await readCall(id)
      const refusal = await check(tenant, call, new AbortController().signal)
      if (refusal !== undefined || !(await markPlaced(tenant, id, new Date(nowMs)))) {
        await end(id, {
          status: 'canceled',
          end_reason: 'skipped',
          disposition: refusal?.reason ?? 'paused',
          error: refusal?.sentence ?? '',
        })
        continue
      }
      const phone = call.to_number ?? ''
      const attempt = (attemptsOn.get(phone) ?? 0) + 1
      attemptsOn.set(phone, attempt)
      dialled.push({ phone, atMs: nowMs })
      const behaviour = behaviourOf(phone, CALLEES, attempt)
      const lastsMs = behaviour.ringMs + (behaviour.talkMs ?? 0) + (behaviour.answer === 'no_answer' ? 30_000 : 0)
      live.set(id, { call, behaviour, endsMs: nowMs + lastsMs })
    }
    if ((nowMs - DAY_START) % (15 * STEP_MS) === 0) await report(nowMs)
  }
  for (const [id, one] of live) await end(id, endOf(one, nowMs))
  const after = {
    store,
    room: { claim: async () => 0, leave: async () => {} },
    calling,
    clock,
    log,
    place: async () => {},
  }
  await tickCampaign(after, tenant, campaignId)

  async function report(atMs: number): Promise<void> {
    const { rows } = await store.pool.query<{ bucket: string; n: number }>(
      'select bucket, sum(n)::int as n from prospect_counts group by 1 having sum(n) <> 0 order by 1',
    )
    const { time } = { time: new Date(atMs - 5 * 3_600_000).toISOString().slice(11, 16) }
    const counts = rows.map(({ bucket, n }) => `${bucket} ${n}`).join(' · ')
    show(
      `${time} New York  talking ${String(live.size).padStart(2)}  dialled ${String(dialled.length).padStart(4)}  ${counts}`,
    )
  }
  return judge(store, tenant, campaignId, { dialled, refused, calling, now: new Date(nowMs) })
}

function endOf({ behaviour, call }: Live, nowMs: number): Record<string, unknown> {
  switch (behaviour.answer) {
    case 'human':
      return {
        status: 'completed',
        end_reason: 'agent_hangup',
        disposition: 'completed',
        answered_by: 'human',
        answered_at: call.created_at,
        duration_ms: Math.round(behaviour.talkMs ?? 0),
      }
    case 'voicemail':
      return {
        status: 'completed',
        end_reason: 'voicemail',
        disposition: 'voicemail',
        answered_by: 'machine',
        ended_at: new Date(nowMs),
      }
    case 'busy':
      return { status: 'busy', end_reason: 'busy', disposition: 'busy' }
    case 'no_answer':
      return { status: 'no_answer', end_reason: 'no_answer', disposition: 'no_answer' }
    case 'invalid_number':
      return { status: 'failed', end_reason: 'invalid_number', disposition: 'failed' }
    case 'rejected':
      return { status: 'failed', end_reason: 'rejected', disposition: 'rejected' }
    default:
      return { status: 'failed', end_reason: 'carrier_error', disposition: 'failed' }
  }
}

/** A workspace with an agent, three numbers, a campaign and its prospects, including some who asked not to be called. */
async function furnish(
  store: Store,
  calling: { places: ReturnType<typeof shippedPlaces> },
  now: Date,
): Promise<{ tenant: Tenant; campaignId: string; refused: ReadonlySet<string> }> {
  const [workspaceId, agentId] = [uuidv7(), uuidv7()]
  const tenant = store.tenant(workspaceId)
  await store.global
    .insertInto('workspaces')
    .values({ id: workspaceId, name: 'Day', type: 'team', slug: 'day', deleted_at: null })
    .execute()
  const speech = {
    llm_provider: 'offline',
    llm_model: 'm',
    stt_provider: 'sim',
    stt_model: 'm',
    tts_provider: 'sim',
    tts_voice: 'v',
  }
  await tenant.db
    .insertInto('agents')
    .values({ id: agentId, agent_name: 'Ada', temperature: 0, system_prompt: 'p', first_message: 'f', ...speech })
    .execute()
  await tenant.db
    .insertInto('phone_numbers')
    .values(NUMBERS.map((phone_number) => ({ phone_number, agent_id: agentId, provider: 'sim', trunk: null })))
    .execute()
  const input = {
    name: 'A day',
    agent_id: agentId,
    min_time_between_calls: MIN_GAP_MINUTES,
    max_number_calls: MOST_ATTEMPTS,
    stop_when: null,
  }
  const fields = columnsOf(compileCheck(CreateCampaign)(input, 'body') as never) as CampaignFields
  const campaign = await insertCampaign(tenant, fields, now)
  const refused = new Set<string>()
  for (let i = 0; i < PROSPECTS; i++) {
    const phone = `+1${AREAS[i % AREAS.length]}555${String(1000 + i)}`
    const group = await windowGroupOf(store, calling.places.whereaboutsOf({ number: phone }))
    const of = { campaign, listId: campaign.lists[0]?.id ?? '' }
    await insertProspect(tenant, of, { phone, window_group: group.id, consent_at: null } as never, now)
    if (i % 50 === 7) refused.add(phone)
  }
  await addDoNotCall(
    tenant,
    [...refused].map((phone) => ({ phone, reason: 'Asked by letter', source: 'api' })),
    now,
  )
  return { tenant, campaignId: campaign.id, refused }
}

async function judge(
  store: Store,
  tenant: Tenant,
  campaignId: string,
  day: {
    dialled: readonly { phone: string; atMs: number }[]
    refused: ReadonlySet<string>
    calling: { rules: Awaited<ReturnType<typeof loadCallingRules>>; places: ReturnType<typeof shippedPlaces> }
    now: Date
  },
): Promise<{ broken: string[]; summary: string }> {
  const broken: string[] = []
  const byPhone = new Map<string, number[]>()
  for (const { phone, atMs } of day.dialled) {
    byPhone.set(phone, [...(byPhone.get(phone) ?? []), atMs])
    if (day.refused.has(phone)) broken.push(`${phone} asked not to be called`)
    for (const zone of day.calling.places.whereaboutsOf({ number: phone }).zones) {
      const hour = wallClock(atMs, zone).secondOfDay / 3_600
      if (hour < 9 || hour >= (phone.startsWith('+1305') ? 20 : 21))
        broken.push(`${phone} was called at ${hour.toFixed(1)} in ${zone}`)
    }
  }
  for (const [phone, times] of byPhone) {
    if (times.length > MOST_ATTEMPTS) broken.push(`${phone} was called ${times.length} times`)
    if (phone.startsWith('+1305') && times.length > 3) broken.push(`${phone} was called more often than Florida allows`)
    for (let i = 1; i < times.length; i++) {
      if (times[i]! - times[i - 1]! < MIN_GAP_MINUTES * 60_000) broken.push(`${phone} was called twice within the gap`)
    }
  }
  const { rows: open } = await store.pool.query('select 1 from prospect_attempts where ended_at is null')
  if (open.length > 0) broken.push(`${open.length} attempts never ended`)
  const { rows: counts } = await store.pool.query(
    `select bucket, sum(n)::int from prospect_counts group by 1 having sum(n) <> 0
     except select prospect_bucket(status, resolution, next_attempt_at, consent_at), count(*)::int from prospects group by 1`,
  )
  if (counts.length > 0) broken.push('kept counts differ from the rows')
  const untried = await tenant.db
    .selectFrom('prospects')
    .select('phone')
    .where('attempt_seq', '=', 0)
    .where('status', '=', 'waiting')
    .execute()
  if (untried.length > 0) broken.push(`${untried.length} prospects were never called, as ${untried[0]?.phone}`)
  const progress = (await progressOf(tenant, [campaignId])).get(campaignId)
  const { rows } = await store.pool.query<{ bucket: string; n: number }>(
    'select bucket, sum(n)::int as n from prospect_counts group by 1 having sum(n) <> 0 order by 2 desc',
  )
  const summary = [
    `${PROSPECTS} prospects in ${AREAS.length} area codes of four zones, ${SEATS} seats: ${day.dialled.length} calls, ${progress?.unresolved ?? 0} prospects are left for tomorrow`,
    rows.map(({ bucket, n }) => `${bucket} ${n}`).join(' · '),
    broken.length === 0 ? 'Every promise held.' : `${broken.length} promises were broken.`,
  ].join('\n')
  return { broken: broken.slice(0, 20), summary }
}

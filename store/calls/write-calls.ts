import { CompiledQuery } from 'kysely'
import type { Prices } from '../../runtime/call/cost.ts'
import type { CallChange, CallEnd } from '../../runtime/call/log/call-change.ts'
import { type CallEntry, entryOf, partsOf, tableOf } from '../../runtime/call/log/call-entry.ts'
import type { CallEvent } from '../../runtime/call/log/events.ts'
import { workspaceEventOf } from '../../runtime/call/log/workspace-event.ts'
import { NO_USAGE } from '../../runtime/call/types/add-usage.ts'
import type { Clock } from '../../runtime/lib/clock.ts'
import { cleanText } from '../../runtime/lib/text.ts'
import type { Logger } from '../../runtime/process/log.ts'
import { type EndedCall, observeEndedCall } from '../../runtime/process/metrics/call-metrics.ts'
import type { Store } from '../database/database.ts'
import { isRefusal, type RowsWritten, writeRows } from '../database/write-rows.ts'
import { lacksPartition, makeEventPartitions } from './call-events.ts'
import { OPEN_STATUSES } from './open-calls.ts'

/** Of what carriers and providers say about a failure. */
const MAX_ERROR_CHARS = 2_000

/** What calls cost; absent: nothing. */
type CallPrices = Partial<Pick<Prices, 'costOf' | 'platformUsdPerMinute'>> & {
  /** Whether the workspace has a key of its own at the provider; absent: none has. */
  isOwnKey?(workspaceId: string, provider: string): boolean
}

const IS_OPEN = `c.status in (${OPEN_STATUSES.map((status) => `'${status}'`).join(', ')})`
const IS_NOT_ANSWERED = `c.status in ('queued', 'ringing')`

/**
 * A stage's cost with this use added: before its first use it is zero, from the first use on whose price isn't known it is null. At the
 * end of the call a stage that was never used costs nothing.
 */
const cost = (stage: string, before: string, used: string): string => `
  cost_${stage} = case
    when ${used} > 0 then case when ${before} = 0 then 0 else c.cost_${stage} end + d.cost_${stage}
    when d.end_status is not null and ${IS_OPEN} and ${before} = 0 then coalesce(c.cost_${stage}, 0)
    else c.cost_${stage} end`

/** A part of the tokens with this use added; one that is not known stays as it is. */
const part = (column: string, used: string): string =>
  `${column} = case when d.${used} is null then c.${column} else coalesce(c.${column}, 0) + d.${used} end`

const merged = (column: string): string =>
  `${column} = case when d.${column} is null then c.${column} else coalesce(c.${column}, '{}') || d.${column} end`

const atEnd = (column: string, value: string): string =>
  `${column} = case when d.end_status is not null and ${IS_OPEN} then ${value} else c.${column} end`

/**
 * One statement for entries of different calls: their events, and for each entry that was not there already its turns, what is
 * published of it, and its call's row. Triggers of the row publish the change of its status after all that. A call that has a
 * terminal status keeps it.
 */
const APPEND = `
  with entry as materialized (
    select e.n, e.events, r.* from unnest($1::jsonb[], $2::json[]) with ordinality as e (row, events, n),
      jsonb_to_record(e.row) as r (workspace_id uuid, call_id uuid, first_seq int, last_seq int, at timestamptz,
        only_if_open boolean, told jsonb, turns jsonb, changes boolean, status text, answered_at timestamptz,
        picked_up_at timestamptz, tokens_in int, tokens_out int,
        cached_read int, cache_write int, reasoning int, audio_in int, audio_out int, cached_audio int,
        estimated int, stt_seconds double precision, tts_characters int,
        cost_llm double precision, cost_stt double precision, cost_tts double precision,
        cost_own_keys double precision, latencies jsonb, consent text, recording text,
        answered_by text, agent_version int, rollout_id uuid, carrier jsonb, quality jsonb, supervisors jsonb, end_status text, end_reason text,
        disposition text, error text, end_at timestamptz, duration_ms bigint, usd_per_minute double precision,
        share_agent uuid)),
  written as (
    insert into call_events (workspace_id, call_id, first_seq, last_seq, at, events)
    select e.workspace_id, e.call_id, e.first_seq, e.last_seq, e.at, e.events
    from entry e left join calls c on c.id = e.call_id
    where e.events is not null and not (e.only_if_open and c.id is not null and not ${IS_OPEN})
    on conflict do nothing returning call_id, first_seq),
  due as (
    select e.*, c.agent_id,
      coalesce(e.duration_ms, greatest(0, extract(epoch from e.end_at - c.answered_at) * 1000)::bigint, 0) as lasted_ms,
      case when e.duration_ms is null or c.answered_at is null then e.end_at
        else c.answered_at + e.duration_ms * interval '1 ms' end as ended_at
    from entry e join calls c on c.id = e.call_id and c.workspace_id = e.workspace_id
      left join written w on w.call_id = e.call_id and w.first_seq = e.first_seq
    where e.events is null or w.call_id is not null),
  said as (
    insert into call_turns (workspace_id, call_id, seq, role, text, start_ms, end_ms, interrupted)
    select d.workspace_id, d.call_id, t.* from due d, jsonb_to_recordset(d.turns)
      as t (seq int, role text, text text, start_ms int, end_ms int, interrupted boolean)
    on conflict (call_id, seq) do update set role = excluded.role, text = excluded.text,
      start_ms = excluded.start_ms, end_ms = excluded.end_ms, interrupted = excluded.interrupted),
  shared as (
    insert into call_shares as s (workspace_id, call_id, agent_id, tokens, cost_llm, cost_stt, cost_tts, cost_own_keys)
    select d.workspace_id, d.call_id, d.share_agent, d.tokens_in + d.tokens_out, d.cost_llm, d.cost_stt, d.cost_tts,
      d.cost_own_keys
    from due d where d.share_agent <> d.agent_id and d.tokens_in + d.tokens_out + d.stt_seconds + d.tts_characters > 0
    on conflict (call_id, agent_id) do update set tokens = s.tokens + excluded.tokens,
      cost_llm = s.cost_llm + excluded.cost_llm, cost_stt = s.cost_stt + excluded.cost_stt,
      cost_tts = s.cost_tts + excluded.cost_tts, cost_own_keys = s.cost_own_keys + excluded.cost_own_keys),
  told as (
    insert into workspace_events (workspace_id, type, subject, agent_id, data)
    select d.workspace_id, t.event ->> 'type', d.call_id, d.agent_id,
      jsonb_build_object('call_log_id', d.call_id, 'agent_id', d.agent_id) || (t.event -> 'data')
    from due d, jsonb_array_elements(d.told) with ordinality as t (event, n)
    order by d.n, t.n)
  update calls c set
    status = case
      when not ${IS_OPEN} then c.status
      when d.end_status is not null then d.end_status
      when d.status = 'in_progress' then 'in_progress'
      when d.status = 'ringing' and c.status = 'queued' then 'ringing'
      else c.status end,
    answered_at = case when d.status = 'in_progress' and ${IS_NOT_ANSWERED} then d.answered_at else c.answered_at end,
    picked_up_at = coalesce(d.picked_up_at, c.picked_up_at),
    llm_input_tokens = c.llm_input_tokens + d.tokens_in,
    llm_output_tokens = c.llm_output_tokens + d.tokens_out,
    ${part('llm_cached_read_tokens', 'cached_read')},
    ${part('llm_cache_write_tokens', 'cache_write')},
    ${part('llm_reasoning_tokens', 'reasoning')},
    ${part('llm_audio_input_tokens', 'audio_in')},
    ${part('llm_audio_output_tokens', 'audio_out')},
    ${part('llm_cached_audio_tokens', 'cached_audio')},
    llm_estimated_tokens = c.llm_estimated_tokens + coalesce(d.estimated, 0),
    stt_seconds = c.stt_seconds + d.stt_seconds,
    tts_characters = c.tts_characters + d.tts_characters,
    ${cost('llm', 'c.llm_input_tokens + c.llm_output_tokens', 'd.tokens_in + d.tokens_out')},
    ${cost('stt', 'c.stt_seconds', 'd.stt_seconds')},
    ${cost('tts', 'c.tts_characters', 'd.tts_characters')},
    cost_own_keys = c.cost_own_keys + d.cost_own_keys,
    turn_latencies_ms = c.turn_latencies_ms || array(select jsonb_array_elements_text(d.latencies)::int),
    consent = coalesce(d.consent, c.consent),
    recording = coalesce(nullif(d.recording, 'off'), c.recording, d.recording),
    answered_by = coalesce(d.answered_by, c.answered_by),
    agent_version = coalesce(d.agent_version, c.agent_version),
    rollout_id = coalesce(d.rollout_id, c.rollout_id),
    carrier_call_id = coalesce(d.carrier ->> 'call_id', c.carrier_call_id),
    ${merged('carrier')},
    ${merged('quality')},
    supervisors = c.supervisors || coalesce(d.supervisors, '[]'),
    ${atEnd('end_reason', 'd.end_reason')},
    ${atEnd('disposition', 'd.disposition')},
    ${atEnd('error', 'd.error')},
    ${atEnd('ended_at', 'd.ended_at')},
    ${atEnd('duration_ms', 'd.lasted_ms')},
    ${atEnd('platform_cost', 'd.lasted_ms::double precision / 60000 * d.usd_per_minute')}
  from due d where c.id = d.call_id and d.changes
  returning c.workspace_id, c.call_type, c.direction, c.status, c.end_reason, c.duration_ms, c.cost_llm, c.cost_stt, c.cost_tts,
    c.platform_cost, c.quality, d.end_status is not null and c.ended_at = d.ended_at as is_over`

interface CallWrites {
  store: Store
  prices?: CallPrices | undefined
  clock: Clock
  log: Logger
}

/** Writes entries of calls around those that the database refuses; a partition that is missing is made. */
export function writeCalls(
  { store, prices, clock, log }: CallWrites,
  entries: readonly CallEntry[],
  isLastTry: boolean,
): Promise<RowsWritten<CallEntry>> {
  return writeRows({
    table: tableOf,
    rows: entries,
    parts: partsOf,
    about: ({ callId, firstSeq, lastSeq }) => ({ callId, firstSeq, lastSeq }),
    log,
    isLastTry,
    async write(some) {
      try {
        await appendCallEvents(store, some, prices)
      } catch (error) {
        if (!lacksPartition(error)) throw error
        await makeEventPartitions(store, clock.nowMs())
        await appendCallEvents(store, some, prices)
      }
    },
  })
}

/**
 * Appends the events to the logs of their calls and writes all that they change, in one transaction. An entry that is there already
 * is left as it is. Returns how many calls ended by it.
 */
export async function appendCallEvents(
  store: Pick<Store, 'pool' | 'acrossTenants'>,
  entries: readonly CallEntry[],
  prices: CallPrices = {},
): Promise<number> {
  const statements = roundsOf(entries).map((round) => [
    round.map((entry) => JSON.stringify(rowOf(entry, prices))),
    round.map(({ events }) => events ?? null),
  ])
  const [only, ...more] = statements
  if (only === undefined) return 0
  const found: (EndedCall & { is_over: boolean })[] = []
  if (more.length === 0) {
    found.push(...(await store.pool.query({ name: 'append-call-events', text: APPEND, values: only })).rows)
  } else {
    await store.acrossTenants.transaction().execute(async (db) => {
      for (const values of statements) {
        const { rows } = await db.executeQuery<EndedCall & { is_over: boolean }>(CompiledQuery.raw(APPEND, values))
        found.push(...rows)
      }
    })
  }
  const ended = found.filter(({ is_over: isOver }) => isOver)
  for (const call of ended) observeEndedCall(call)
  return ended.length
}

/**
 * Ends a call that no node holds: its end comes after all that its log has. False: it is over already.
 * @param durationMs undefined: from the answer to the end
 */
export async function endCall(
  store: Pick<Store, 'pool' | 'acrossTenants' | 'tenant'>,
  { workspaceId, callId }: Pick<CallEntry, 'workspaceId' | 'callId'>,
  { status, endReason: end_reason, disposition, error }: Omit<CallEnd, 'at' | 'durationMs'>,
  at: Date,
  durationMs?: number,
  prices?: CallPrices,
): Promise<boolean> {
  const { seq: last } = await store
    .tenant(workspaceId)
    .db.selectFrom('call_events')
    .select(({ fn }) => fn.max('last_seq').as('seq'))
    .where('call_id', '=', callId)
    .executeTakeFirstOrThrow()
  const event: CallEvent = {
    ...{ type: 'ended', status, end_reason, disposition },
    ...(error !== undefined && { error }),
    ...(durationMs !== undefined && { duration_ms: durationMs }),
    ...{ seq: last === null ? 0 : Number(last) + 1, at: at.getTime() },
  }
  const entry = { ...entryOf(workspaceId, callId, [event]), onlyIfOpen: true }
  try {
    return (await appendCallEvents(store, [entry], prices)) > 0
  } catch (refusal) {
    if (!isRefusal(refusal)) throw refusal
    // It is over, even where its log can't say so.
    const { events: _, ...rowOnly } = entry
    return (await appendCallEvents(store, [rowOnly], prices)) > 0
  }
}

/** Entries of one call are written one after the other, those of different calls together. */
function roundsOf(entries: readonly CallEntry[]): CallEntry[][] {
  const rounds: CallEntry[][] = []
  const next = new Map<string, number>()
  for (const entry of entries) {
    const round = next.get(entry.callId) ?? 0
    next.set(entry.callId, round + 1)
    rounds[round] ??= []
    rounds[round].push(entry)
  }
  return rounds
}

function rowOf(entry: CallEntry, prices: CallPrices) {
  const { workspaceId, callId, firstSeq, lastSeq, at, told = [], change = {} } = entry
  const { turns, ...row } = change
  return {
    ...{ workspace_id: workspaceId, call_id: callId, first_seq: firstSeq, last_seq: lastSeq, at: instant(at) },
    only_if_open: entry.onlyIfOpen ?? false,
    told: told.map((event: CallEvent) => workspaceEventOf(event)),
    turns: turns?.map(({ seq, role, text, startMs, endMs, interrupted }) => {
      return { seq, role, text, start_ms: Math.round(startMs), end_ms: Math.round(endMs), interrupted }
    }),
    changes: Object.keys(row).length > 0,
    ...sumsOf(entry, prices),
    ...endOf(row, prices),
    status: row.status,
    answered_at: instant(row.answeredAt),
    picked_up_at: instant(row.pickedUpAt),
    consent: row.consent,
    recording: row.recording,
    answered_by: row.answeredBy,
    agent_version: row.agentVersion,
    rollout_id: row.rolloutId,
    carrier: row.carrier,
    quality: row.quality,
    supervisors: row.supervisors,
  }
}

function sumsOf({ workspaceId, at, change = {}, serving }: CallEntry, { costOf, isOwnKey }: CallPrices) {
  const { usage, recognised = [], latenciesMs } = change
  const costs = usage === undefined ? undefined : costOf?.(serving ?? {}, usage, new Date(at))
  const others = recognised.map(({ provider, model, seconds }) => {
    const cost = costOf?.({ stt: { provider, model } }, { ...NO_USAGE, sttSeconds: seconds }, new Date(at))
    return { seconds, usd: cost?.sttUsd, isOwn: isOwnKey?.(workspaceId, provider) === true }
  })
  const own = (['llm', 'stt', 'tts'] as const).filter(
    (stage) => serving?.[stage] !== undefined && isOwnKey?.(workspaceId, serving[stage].provider),
  )
  return {
    tokens_in: Math.round(usage?.llmInputTokens ?? 0),
    tokens_out: Math.round(usage?.llmOutputTokens ?? 0),
    cached_read: whole(usage?.llmCachedReadTokens),
    cache_write: whole(usage?.llmCacheWriteTokens),
    reasoning: whole(usage?.llmReasoningTokens),
    audio_in: whole(usage?.llmAudioInputTokens),
    audio_out: whole(usage?.llmAudioOutputTokens),
    cached_audio: whole(usage?.llmCachedAudioTokens),
    estimated: whole(usage?.llmEstimatedTokens),
    stt_seconds: others.reduce((sum, { seconds }) => sum + seconds, usage?.sttSeconds ?? 0),
    tts_characters: Math.round(usage?.ttsCharacters ?? 0),
    cost_llm: costs?.llmUsd,
    cost_stt: others.reduce(plusUsd, usage === undefined && others.length > 0 ? 0 : costs?.sttUsd),
    cost_tts: costs?.ttsUsd,
    cost_own_keys: others
      .filter(({ isOwn }) => isOwn)
      .reduce(
        (sum, { usd }) => sum + (usd ?? 0),
        own.reduce((sum, stage) => sum + (costs?.[`${stage}Usd`] ?? 0), 0),
      ),
    latencies: latenciesMs?.map(Math.round) ?? [],
    share_agent: serving?.handedTo,
  }
}

/** What is not known makes the sum so. */
const plusUsd = (sum: number | null | undefined, { usd }: { usd: number | null | undefined }) =>
  sum == null || usd == null ? null : sum + usd

const whole = (tokens: number | undefined): number | undefined =>
  tokens === undefined ? undefined : Math.round(tokens)

function endOf({ end }: CallChange, { platformUsdPerMinute }: CallPrices) {
  if (end === undefined) return {}
  return {
    end_status: end.status,
    end_reason: end.endReason,
    disposition: end.disposition,
    error: end.error === undefined ? undefined : cleanText(end.error, MAX_ERROR_CHARS),
    end_at: instant(end.at),
    duration_ms: end.durationMs === undefined ? undefined : Math.round(end.durationMs),
    usd_per_minute: platformUsdPerMinute?.(new Date(end.at)) ?? 0,
  }
}

const instant = (ms: number | undefined): string | undefined =>
  ms === undefined ? undefined : new Date(ms).toISOString()

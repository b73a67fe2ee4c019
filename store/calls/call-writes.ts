import { type RawBuilder, sql } from 'kysely'
import type { StageChoices, StageCosts } from '../../runtime/call/cost.ts'
import type { Turn } from '../../runtime/call/log/resume.ts'
import type { Usage } from '../../runtime/call/types/usage.ts'
import { cleanText } from '../../runtime/lib/text.ts'
import type { Answerer, Consent } from '../../runtime/plugin-sdk/telephony/answerer.ts'
import { observeEndedCall } from '../../runtime/process/metrics/call-metrics.ts'
import type { Store } from '../database/database.ts'
import type { Agent, CallCarrier, CallQuality, CallStatus } from '../database/schema.ts'
import type { Tenant } from '../database/tenant.ts'

/** What a running call writes. A call that has a terminal status keeps it: nothing here changes an ended call's status. */

/** Of what carriers and providers say about a failure. */
const MAX_ERROR_CHARS = 2_000

/** Of calls that are not over. */
export const OPEN_STATUSES = ['queued', 'ringing', 'in_progress'] as const satisfies readonly CallStatus[]

/** A call that waits for its leg, with its agent. */
export interface WaitingCall {
  callId: string
  agent: Agent
  dynamicVariables: Record<string, string>
}

/** How a call ended. */
export interface CallEnd {
  status: 'completed' | 'failed' | 'busy' | 'no_answer' | 'canceled'
  endReason: string
  disposition: string
  error?: string
}

/** The queued call and its agent; undefined when the call isn't queued any more or its agent is deleted. */
export async function findWaitingCall(tenant: Tenant, callId: string): Promise<WaitingCall | undefined> {
  const row = await tenant.db
    .selectFrom('calls')
    .innerJoin('agents', 'agents.id', 'calls.agent_id')
    .selectAll('agents')
    .select('calls.dynamic_variables')
    .where('calls.id', '=', callId)
    .where('calls.status', '=', 'queued')
    .executeTakeFirst()
  if (row === undefined) return undefined
  const { dynamic_variables: dynamicVariables, ...agent } = row
  return { callId, agent, dynamicVariables }
}

/** The leg is up and a worker is looked for. */
export async function writeRinging(tenant: Tenant, callId: string): Promise<void> {
  await tenant.db
    .updateTable('calls')
    .set({ status: 'ringing' })
    .where('id', '=', callId)
    .where('status', '=', 'queued')
    .execute()
}

export async function writeAnswered(tenant: Tenant, callId: string, at: Date): Promise<void> {
  await tenant.db
    .updateTable('calls')
    .set({ status: 'in_progress', answered_at: at })
    .where('id', '=', callId)
    .where('status', 'in', ['queued', 'ringing'])
    .execute()
}

/** Writes the turn at its place, over what was there. */
export async function writeTurn(tenant: Tenant, callId: string, seq: number, turn: Turn): Promise<void> {
  const values = {
    role: turn.role,
    text: turn.text,
    start_ms: Math.round(turn.startMs),
    end_ms: Math.round(turn.endMs),
    interrupted: turn.interrupted,
  }
  await tenant.db
    .insertInto('call_turns')
    .values({ call_id: callId, seq, ...values })
    .onConflict((conflict) => conflict.columns(['call_id', 'seq']).doUpdateSet(values))
    .execute()
}

/** The models of the call's agent; undefined when it is deleted. */
export async function stageChoicesOf(tenant: Tenant, callId: string): Promise<StageChoices | undefined> {
  const agent = await tenant.db
    .selectFrom('calls')
    .innerJoin('agents', 'agents.id', 'calls.agent_id')
    .select(['llm_provider', 'llm_model', 'stt_provider', 'stt_model', 'tts_provider', 'tts_voice'])
    .where('calls.id', '=', callId)
    .executeTakeFirst()
  return (
    agent && {
      llm: { provider: agent.llm_provider, model: agent.llm_model },
      stt: { provider: agent.stt_provider, model: agent.stt_model },
      tts: { provider: agent.tts_provider, voice: agent.tts_voice },
    }
  )
}

/** Adds to the sums of the call. A stage's cost is null from the first use on whose price isn't known. */
export async function addProgress(
  tenant: Tenant,
  callId: string,
  usage: Usage,
  turnLatenciesMs: readonly number[],
  costs: StageCosts,
): Promise<void> {
  const latencies = turnLatenciesMs.map(Math.round)
  const tokensIn = Math.round(usage.llmInputTokens)
  const tokensOut = Math.round(usage.llmOutputTokens)
  const characters = Math.round(usage.ttsCharacters)
  await tenant.db
    .updateTable('calls')
    .set((eb) => ({
      llm_input_tokens: eb('llm_input_tokens', '+', tokensIn),
      llm_output_tokens: eb('llm_output_tokens', '+', tokensOut),
      ...addedPart('llm_cached_read_tokens', usage.llmCachedReadTokens),
      ...addedPart('llm_cache_write_tokens', usage.llmCacheWriteTokens),
      ...addedPart('llm_reasoning_tokens', usage.llmReasoningTokens),
      ...addedPart('llm_estimated_tokens', usage.llmEstimatedTokens),
      stt_seconds: eb('stt_seconds', '+', usage.sttSeconds),
      tts_characters: eb('tts_characters', '+', characters),
      cost_llm: addedCost('cost_llm', sql`llm_input_tokens + llm_output_tokens`, tokensIn + tokensOut, costs.llmUsd),
      cost_stt: addedCost('cost_stt', sql`stt_seconds`, usage.sttSeconds, costs.sttUsd),
      cost_tts: addedCost('cost_tts', sql`tts_characters`, characters, costs.ttsUsd),
      turn_latencies_ms: sql<number[]>`turn_latencies_ms || ${latencies}::integer[]`,
    }))
    .where('id', '=', callId)
    .execute()
}

/** A part of the tokens with this use added; one that is not known stays as it is. */
function addedPart(column: string, tokens: number | undefined): Record<string, RawBuilder<number>> {
  return tokens === undefined ? {} : { [column]: sql<number>`coalesce(${sql.ref(column)}, 0) + ${Math.round(tokens)}` }
}

/** The cost with this use added. Before the first use of a stage the cost is zero, not unknown. */
function addedCost(column: string, usedBefore: RawBuilder<unknown>, used: number, usd: number | null) {
  if (used === 0) return sql<number | null>`${sql.ref(column)}`
  const before = sql`case when ${usedBefore} = 0 then 0 else ${sql.ref(column)} end`
  return sql<number | null>`${before} + ${usd}::double precision`
}

/** Keeps who picked up, or what the caller said to the consent message. */
export async function writeObserved(
  tenant: Tenant,
  callId: string,
  what: { answeredBy?: Answerer; consent?: Consent; carrier?: CallCarrier; quality?: CallQuality },
): Promise<void> {
  const { carrier, quality } = what
  const values = {
    ...(what.answeredBy === undefined ? {} : { answered_by: what.answeredBy }),
    ...(what.consent === undefined ? {} : { consent: what.consent }),
    ...(carrier?.call_id === undefined ? {} : { carrier_call_id: carrier.call_id }),
    // More is known the longer the call lasts: what was known before stays.
    ...(carrier === undefined ? {} : { carrier: merged('carrier', carrier) }),
    ...(quality === undefined ? {} : { quality: merged('quality', quality) }),
  }
  if (Object.keys(values).length === 0) return
  await tenant.db.updateTable('calls').set(values).where('id', '=', callId).execute()
}

function merged(column: 'carrier' | 'quality', more: CallCarrier | CallQuality) {
  return sql<string>`coalesce(${sql.ref(column)}, '{}'::jsonb) || ${JSON.stringify(more)}::jsonb`
}

/** Gives an open call its one terminal status; false when it has one. */
export async function writeEnd(
  tenant: Tenant,
  callId: string,
  end: CallEnd,
  at: Date,
  durationMs: number | undefined,
  platformUsdPerMinute = 0,
): Promise<boolean> {
  // What is unknown after a crash is reckoned from the answer to the moment the end was seen.
  const duration =
    durationMs === undefined
      ? sql<number>`coalesce(greatest(0, extract(epoch from ${at}::timestamptz - answered_at) * 1000), 0)::bigint`
      : sql<number>`${durationMs}::bigint`
  // A stage that was never used costs nothing, even without a price.
  const unused = (column: string, used: RawBuilder<unknown>) =>
    sql<number | null>`case when ${used} = 0 then coalesce(${sql.ref(column)}, 0) else ${sql.ref(column)} end`
  const ended = await tenant.db
    .updateTable('calls')
    .set({
      status: end.status,
      end_reason: end.endReason,
      disposition: end.disposition,
      error: end.error === undefined ? null : cleanText(end.error, MAX_ERROR_CHARS),
      ended_at: at,
      duration_ms: duration,
      platform_cost: sql<number>`${duration}::double precision / 60000 * ${platformUsdPerMinute}::double precision`,
      cost_llm: unused('cost_llm', sql`llm_input_tokens + llm_output_tokens`),
      cost_stt: unused('cost_stt', sql`stt_seconds`),
      cost_tts: unused('cost_tts', sql`tts_characters`),
    })
    .where('id', '=', callId)
    .where('status', 'in', OPEN_STATUSES)
    .returning([
      'call_type',
      'direction',
      'status',
      'end_reason',
      'duration_ms',
      'cost_llm',
      'cost_stt',
      'cost_tts',
      'platform_cost',
      'quality',
    ])
    .executeTakeFirst()
  if (ended !== undefined) observeEndedCall(ended)
  return ended !== undefined
}

/** An open call as the reaper sees it. */
export interface OpenCall {
  id: string
  workspaceId: string
  status: CallStatus
  callType: 'phone' | 'web'
  createdAt: Date
  /** When a carrier was asked to dial it. */
  placedAt: Date | null
  /** Our number, where we called. */
  fromNumber: string | null
  /** What the carrier calls it, if it has said so. */
  carrierId: string | null
}

/** Open calls of all workspaces in the order of their ids, after `afterId`. */
export async function listOpenCalls(store: Store, afterId: string | undefined, limit: number): Promise<OpenCall[]> {
  let query = store.acrossTenants
    .selectFrom('calls')
    .select([
      'id',
      'workspace_id as workspaceId',
      'status',
      'call_type as callType',
      'created_at as createdAt',
      'placed_at as placedAt',
      'from_number as fromNumber',
      'carrier_call_id as carrierId',
    ])
    .where('status', 'in', OPEN_STATUSES)
    .orderBy('id')
    .limit(limit)
  if (afterId !== undefined) query = query.where('id', '>', afterId)
  return query.execute()
}

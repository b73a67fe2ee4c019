import { type AgentDetails, agentDetails } from '../../store/agents/agents.ts'
import { type CallMarks, marksOfCalls, turnsOf } from '../../store/calls/calls.ts'
import type { Store } from '../../store/database/database.ts'
import type { Batch, Call, CallTurn, Document, ProspectUpload } from '../../store/database/schema.ts'
import type { StoredEvent } from '../../store/events/workspace-events.ts'
import type { EventData } from '../../workers/webhooks/event-data.ts'
import { agentBody } from '../agents/schema.ts'
import { batchBody } from '../batches/schema.ts'
import { callBody } from '../calls/schema.ts'
import { documentBody } from '../knowledge/schema.ts'
import { uploadBody } from '../prospects/schema.ts'

/** What of a call's events comes from its row, as it was then. */
const ROW_OF_CALL = new Set([
  'call.queued',
  'call.ringing',
  'call.answered',
  'call.ended',
  'call.analyzed',
  'recording.ready',
])

/** `data` of events as the API shows what they are about. */
export const eventData: EventData = async (store, publicUrl, events) => {
  const [turns, calls] = await Promise.all([turnsOfEnded(store, events), callsOfMoments(store, events)])
  return Promise.all(events.map((event) => dataOf(store, publicUrl, event, turns, calls)))
}

/** What an event of a moment in a call says of the call. */
const correlation = (call: CallMarks | undefined) => ({
  agent_version: call?.agent_version ?? null,
  from_number: call?.from_number ?? null,
  to_number: call?.to_number ?? null,
  batch_id: call?.batch_id ?? null,
  campaign_slug: call?.campaign_slug ?? null,
  prospect_uuid: call?.prospect_id ?? null,
  external_id: call?.external_id ?? null,
  metadata: call?.metadata ?? {},
})

function callsOfMoments(store: Store, events: readonly StoredEvent[]): Promise<Map<string, CallMarks>> {
  const ids = events.filter(({ type }) => isMomentOfCall(type)).flatMap(({ subject }) => subject ?? [])
  return marksOfCalls(store, [...new Set(ids)])
}

const isMomentOfCall = (type: string): boolean => type.startsWith('call.') && !ROW_OF_CALL.has(type)

async function dataOf(
  store: Store,
  publicUrl: string,
  { type, subject, workspaceId, data, createdAt }: StoredEvent,
  turns: ReadonlyMap<string, CallTurn[]>,
  calls: ReadonlyMap<string, CallMarks>,
): Promise<Record<string, unknown>> {
  if (ROW_OF_CALL.has(type)) {
    // Rows of older versions lack what came later.
    const row = {
      external_id: null,
      prospect_id: null,
      metadata: {},
      agent_version: null,
      updated_at: createdAt.toISOString(),
      ...data,
    }
    const call = withTimes(row, ['created_at', 'answered_at', 'ended_at', 'updated_at']) as unknown as Call
    return callBody({ ...call, turns: turns.get(call.id) ?? [] }, publicUrl)
  }
  if (type.startsWith('batch.')) {
    const batch = withTimes({ updated_at: createdAt.toISOString(), ...data }, [
      'created_at',
      'scheduled_time',
      'started_at',
      'finished_at',
      'updated_at',
    ]) as unknown as Batch
    return batchBody({ ...batch, in_progress: 0 })
  }
  if (type.startsWith('document.')) {
    const document = withTimes(data, ['created_at']) as unknown as Document
    return { agent_id: document.agent_id, ...documentBody(document) }
  }
  if (type === 'agent.changed') {
    const now = await agentDetails(store.tenant(workspaceId), subject ?? '')
    // What it was is in the event; the numbers that reach it and its documents are of now.
    const row = withTimes(data, ['created_at', 'updated_at'])
    if (now === undefined && data.id === undefined) return { agent_id: subject }
    const older = { publishing: 'immediate', live_version: null, unpublished: false }
    return agentBody({ phone_numbers: [], documents: 0, ...older, ...now, ...row } as unknown as AgentDetails)
  }
  if (type === 'prospect.resolved' || type === 'prospect.added') return prospectData(data)
  if (type === 'prospect.callback_missed') {
    return { ...data, prospect_uuid: data.uuid, campaign_slug: data.campaign }
  }
  if (type.startsWith('campaign.')) return { campaign_id: subject, campaign_slug: data.slug, ...data }
  if (type.startsWith('upload.')) {
    const upload = withTimes(data, ['created_at', 'finished_at', 'attested_at']) as unknown as ProspectUpload
    const { list_id, campaign_id, campaign_slug } = data
    return { ...uploadBody(upload), list_uuid: list_id, campaign_id, campaign_slug }
  }
  if (isMomentOfCall(type)) return { ...data, ...correlation(calls.get(subject ?? '')) }
  return data
}

/** A row as the database wrote it into JSON, its times read. */
function withTimes(row: Record<string, unknown>, columns: readonly string[]): Record<string, unknown> {
  const times = columns.map((column) => [column, typeof row[column] === 'string' ? new Date(row[column]) : null])
  return { ...row, ...Object.fromEntries(times) }
}

function prospectData(row: Record<string, unknown>): Record<string, unknown> {
  const { id, list_id, phone, last_attempt_at, created_at, campaign, campaign_id, last_call_id = null } = row
  const { first_name, last_name, email = '', state = '', external_id, variables, metadata = {} } = row
  const { status, resolution, disposition, attempts } = row
  const instant = (text: unknown) => (typeof text === 'string' ? new Date(text).toISOString() : null)
  return {
    uuid: id,
    list_uuid: list_id,
    prospect_uuid: id,
    campaign,
    campaign_slug: campaign,
    campaign_id,
    primary_phone: phone,
    ...{ first_name, last_name, email, state, external_id, variables, metadata },
    call_log_id: last_call_id,
    ...{ status, resolution, disposition, attempts },
    last_attempt_at: instant(last_attempt_at),
    created_at: instant(created_at),
  }
}

/** What was said in the calls that are over. */
function turnsOfEnded(store: Store, events: readonly StoredEvent[]): Promise<Map<string, CallTurn[]>> {
  const ids = events
    .filter(({ type }) => type === 'call.ended' || type === 'call.analyzed' || type === 'recording.ready')
    .flatMap(({ subject }) => subject ?? [])
  return turnsOf(store, ids)
}

import { agentDetails } from '../../store/agents/agents.ts'
import { turnsOf } from '../../store/calls/calls.ts'
import type { Store } from '../../store/database/database.ts'
import type { Batch, Call, CallTurn, Document } from '../../store/database/schema.ts'
import type { StoredEvent } from '../../store/events/workspace-events.ts'
import type { EventData } from '../../workers/webhooks/event-data.ts'
import { agentBody } from '../agents/schema.ts'
import { batchBody } from '../batches/schema.ts'
import { callBody } from '../calls/schema.ts'
import { documentBody } from '../knowledge/schema.ts'

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
  const turns = await turnsOfEnded(store, events)
  return Promise.all(events.map((event) => dataOf(store, publicUrl, event, turns)))
}

async function dataOf(
  store: Store,
  publicUrl: string,
  { type, subject, workspaceId, data }: StoredEvent,
  turns: ReadonlyMap<string, CallTurn[]>,
): Promise<Record<string, unknown>> {
  if (ROW_OF_CALL.has(type)) {
    const call = withTimes(data, ['created_at', 'answered_at', 'ended_at']) as unknown as Call
    return callBody({ ...call, turns: turns.get(call.id) ?? [] }, publicUrl)
  }
  if (type.startsWith('batch.')) {
    const batch = withTimes(data, ['created_at', 'scheduled_time', 'started_at', 'finished_at']) as unknown as Batch
    return batchBody({ ...batch, in_progress: 0 })
  }
  if (type.startsWith('document.')) {
    const document = withTimes(data, ['created_at']) as unknown as Document
    return { agent_id: document.agent_id, ...documentBody(document) }
  }
  if (type === 'agent.changed') {
    const agent = await agentDetails(store.tenant(workspaceId), subject ?? '')
    return agent === undefined ? { agent_id: subject } : agentBody(agent)
  }
  if (type === 'prospect.resolved') return prospectData(data)
  return data
}

/** A row as the database wrote it into JSON, its times read. */
function withTimes(row: Record<string, unknown>, columns: readonly string[]): Record<string, unknown> {
  const times = columns.map((column) => [column, typeof row[column] === 'string' ? new Date(row[column]) : null])
  return { ...row, ...Object.fromEntries(times) }
}

function prospectData(row: Record<string, unknown>): Record<string, unknown> {
  const { id, list_id, phone, last_attempt_at, created_at } = row
  const { campaign, first_name, last_name, external_id, variables, status, resolution, disposition, attempts } = row
  const instant = (text: unknown) => (typeof text === 'string' ? new Date(text).toISOString() : null)
  return {
    uuid: id,
    list_uuid: list_id,
    campaign,
    primary_phone: phone,
    ...{ first_name, last_name, external_id, variables, status, resolution, disposition, attempts },
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

import type { Store } from '../../store/database/database.ts'
import type { StoredEvent } from '../../store/events/workspace-events.ts'

/** Makes `data` of events as the API shows it, in their order. */
export type EventData = (
  store: Store,
  publicUrl: string,
  events: readonly StoredEvent[],
) => Promise<Record<string, unknown>[]>

/** What is sent of an event. */
export function eventMessage(event: StoredEvent, data: Record<string, unknown>) {
  return {
    id: event.id,
    type: event.type,
    workspace_id: event.workspaceId,
    created_at: event.createdAt.toISOString(),
    data,
  }
}

/** The call an event is about; null: none. */
export const callOf = ({ type, subject }: StoredEvent): string | null =>
  type.startsWith('call.') || type === 'recording.ready' ? subject : null

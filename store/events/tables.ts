import type { Generated, JSONColumnType, Selectable } from 'kysely'
import type { BoundWorkspace, CreatedAt } from '../database/tables.ts'

/** Written by triggers, and by store/events/workspace-events.ts. `(transaction, seq)` is its place among all events. */
interface WorkspaceEventsTable {
  id: Generated<string>
  workspace_id: BoundWorkspace
  transaction: Generated<string>
  seq: Generated<number>
  type: string
  /** What the event goes away with. */
  subject: string | null
  agent_id: string | null
  data: JSONColumnType<Record<string, unknown>, string, never>
  created_at: CreatedAt
}

interface WebhooksTable {
  id: string
  workspace_id: BoundWorkspace
  url: string
  types: string[]
  description: string
  agent_id: string | null
  /** Sealed. */
  secret: string
  /** Sealed; signs beside the new one until then. */
  old_secret: string | null
  old_secret_until: Date | null
  enabled: Generated<boolean>
  disabled_reason: string | null
  disabled_at: Date | null
  /** Since when every attempt failed. */
  failing_since: Date | null
  created_at: CreatedAt
  updated_at: Generated<Date>
}

export type DeliveryStatus = 'pending' | 'delivered' | 'failed'

interface WebhookDeliveriesTable {
  id: Generated<string>
  workspace_id: BoundWorkspace
  webhook_id: string
  event_id: string
  event_at: Date
  type: string
  status: Generated<DeliveryStatus>
  attempts: Generated<number>
  next_attempt_at: Generated<Date>
  last_attempt_at: Date | null
  duration_ms: number | null
  response_status: number | null
  response_body: string | null
  error: string | null
  created_at: CreatedAt
}

interface ToldWorkersTable {
  worker_id: string
  capacity: number
  told_at: CreatedAt
}

export type WorkspaceEvent = Selectable<WorkspaceEventsTable>

export type Webhook = Selectable<WebhooksTable>

export type WebhookDelivery = Selectable<WebhookDeliveriesTable>

/** Of no single workspace. */
export interface GlobalEventTables {
  told_workers: ToldWorkersTable
}

/** Of a workspace. */
export interface TenantEventTables {
  workspace_events: WorkspaceEventsTable
  webhooks: WebhooksTable
  webhook_deliveries: WebhookDeliveriesTable
}

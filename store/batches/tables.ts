import type { ColumnType, JSONColumnType, Selectable } from 'kysely'
import type { BoundWorkspace, CreatedAt } from '../database/tables.ts'

export type BatchStatus = 'pending' | 'scheduled' | 'running' | 'paused' | 'completed' | 'canceled'

interface BatchesTable {
  id: string
  workspace_id: BoundWorkspace
  name: string
  agent_id: string | null
  agent_phone_number: string
  status: BatchStatus
  scheduled_time: Date | null
  timezone: string
  columns: JSONColumnType<string[], string, string>
  total: number
  invalid: number
  duplicates: number
  /** Rows the runner has gone past. */
  taken: number
  completed: number
  failed: number
  created_at: CreatedAt
  started_at: Date | null
  finished_at: Date | null
  updated_at: ColumnType<Date, never, never>
}

interface BatchItemsTable {
  batch_id: string
  workspace_id: BoundWorkspace
  seq: number
  call_id: string
  /** `waiting`: to be called again; the call is still that of the try before. */
  status: 'waiting' | 'in_progress' | 'completed' | 'failed'
  error: string | null
}

/** Of a batch, in one row of batch_rows. */
export const ROWS_PER_BLOCK = 32

/** Written by COPY alone; without workspace, so reached only by way of its batch. */
interface BatchRowsTable {
  batch_id: string
  block: number
  rows: string
}

export type Batch = Selectable<BatchesTable>

/** Of no single workspace. */
export interface GlobalBatchTables {
  batch_rows: BatchRowsTable
}

/** Of a workspace. */
export interface TenantBatchTables {
  batches: BatchesTable
  batch_items: BatchItemsTable
}

import type { ColumnType, Generated, JSONColumnType, Selectable } from 'kysely'
import type { BoundWorkspace, Json } from '../database/tables.ts'

interface ProspectListsTable {
  id: string
  workspace_id: BoundWorkspace
  campaign_id: string
  slug: string
  name: string
  active: Generated<boolean>
  created_at: Date
  deleted_at: Date | null
}

interface ProspectUploadsTable {
  id: string
  workspace_id: BoundWorkspace
  campaign_id: string
  list_id: string
  filename: string
  dedupe: boolean
  columns: Json<string[]>
  /** What columns are, where their own names don't say it. */
  mapping: ColumnType<Record<string, string>, string | undefined, never>
  /** Who confirmed that everyone in the file agreed to be called, and when. */
  attested_by: Generated<string | null>
  attested_at: Generated<Date | null>
  status: 'loading' | 'completed' | 'failed'
  total: Generated<number>
  loaded: Generated<number>
  duplicates: Generated<number>
  invalid: Generated<number>
  do_not_call: Generated<number>
  batches_total: Generated<number>
  batches_done: Generated<number>
  error: string | null
  created_at: Date
  finished_at: Date | null
}

interface ProspectRejectsTable {
  upload_id: string
  workspace_id: BoundWorkspace
  line: number
  reason: string
  /** JSON: the cells of the row. */
  cells: string
}

export type ProspectStatus = 'waiting' | 'calling' | 'resolved'

export interface ProspectsTable {
  id: string
  workspace_id: BoundWorkspace
  campaign_id: string
  list_id: string
  phone: string
  first_name: Generated<string>
  last_name: Generated<string>
  email: Generated<string>
  state: Generated<string>
  postal_code: Generated<string>
  timezone: Generated<string>
  external_id: Generated<string>
  variables: JSONColumnType<Record<string, string>, string | undefined, string>
  metadata: JSONColumnType<Record<string, string>, string | undefined, string>
  consent_at: Date | null
  window_group: number
  status: Generated<ProspectStatus>
  resolution: string | null
  /** Why it is resolved so: the carrier's words of `failed`. */
  resolution_reason: string | null
  disposition: string | null
  attempts: Generated<number>
  attempt_seq: Generated<number>
  faults_in_row: Generated<number>
  parts_tried: Generated<string[]>
  from_number: string | null
  last_attempt_at: Date | null
  /** Written by a claim alone. */
  last_call_id: ColumnType<string | null, never, never>
  next_attempt_at: Date | null
  call_back_at: Date | null
  /** Since when it is known that the call back wasn't made in time. */
  call_back_missed_at: Date | null
  held_reason: string | null
  held_sentence: string | null
  expires_at: Date | null
  created_at: Date
  updated_at: ColumnType<Date, never, never>
}

/** Written by triggers on `prospects` alone. */
interface ProspectCountsTable {
  campaign_id: ColumnType<string, never, never>
  workspace_id: BoundWorkspace
  list_id: ColumnType<string, never, never>
  window_group: ColumnType<number, never, never>
  bucket: ColumnType<string, never, never>
  n: ColumnType<number, never, never>
}

/** Written by COPY alone; without workspace, so reached only by way of its upload. */
interface ProspectUploadRowsTable {
  upload_id: string
  block: number
  rows: string
}

export type ProspectList = Selectable<ProspectListsTable>

export type ProspectUpload = Selectable<ProspectUploadsTable>

export type Prospect = Selectable<ProspectsTable>

export type ProspectReject = Selectable<ProspectRejectsTable>

/** Of no single workspace. */
export interface GlobalProspectTables {
  prospect_upload_rows: ProspectUploadRowsTable
}

/** Of a workspace. */
export interface TenantProspectTables {
  prospect_lists: ProspectListsTable
  prospect_uploads: ProspectUploadsTable
  prospect_rejects: ProspectRejectsTable
  prospects: ProspectsTable
  prospect_counts: ProspectCountsTable
}

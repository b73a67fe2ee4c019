import type { ColumnType, Generated, JSONColumnType, Selectable } from 'kysely'
import type { SlotStrategy } from '../../runtime/admission/slot-claim.ts'
import type { BoundWorkspace, Json } from '../database/tables.ts'

export type QueueStrategy = SlotStrategy

export interface CampaignsTable {
  id: string
  workspace_id: BoundWorkspace
  slug: string
  name: string
  agent_id: string | null
  email: string | null
  locale_name: string
  active: boolean
  call_ratio: number
  pacing: Generated<'predictive' | 'fixed'>
  dialer_interval: number
  max_active_calls: number
  max_number_calls: number
  min_time_between_calls: number
  dupe_days: number
  expire_days: number
  earliest_prospect_time: string
  latest_prospect_time: string
  ignore_states: string
  filter_holidays: boolean
  max_wait_time: number
  queue_strategy: QueueStrategy
  wrap_up_time: number
  paused: boolean
  pause_reason: string | null
  from_numbers: Json<string[]>
  max_calls_per_number_per_day: number
  retry: Json<Record<string, { after_minutes: number; other_part_of_day?: boolean }>>
  voicemail_resolves: boolean
  consent_required: boolean
  holidays: Json<string[]>
  calling_days: Json<number[]>
  budget: number | null
  stop_when: JSONColumnType<{ failure_rate: number; window: number }, string | null, string | null> | null
  webhook_before_dial: string | null
  agent_tools: Json<('do_not_call' | 'call_back')[]>
  abandoned_message: string
  version: Generated<number>
  created_at: Date
  updated_at: Date
  deleted_at: Date | null
}

interface CampaignRunsTable {
  campaign_id: string
  workspace_id: BoundWorkspace
  next_tick_at: Date
  resumed_at: Date
  last_tick: JSONColumnType<Record<string, unknown>, string | null, string | null> | null
  /** Since when no prospect is left to call. */
  completed_at: Date | null
}

interface CampaignDaysTable {
  campaign_id: string
  workspace_id: BoundWorkspace
  day: string
  attempts: Generated<number>
  answered: Generated<number>
  humans: Generated<number>
  machines: Generated<number>
  abandoned: Generated<number>
  faults: Generated<number>
  cost: Generated<number>
}

/** Written by triggers on `calls` alone, and added up by `foldCallCounts`. A state has several rows; they count together. */
interface CampaignCallCountsTable {
  campaign_id: ColumnType<string, never, never>
  workspace_id: BoundWorkspace
  state: ColumnType<'queued' | 'ringing' | 'waiting' | 'in_progress', never, never>
  n: ColumnType<number, never, never>
  seats: ColumnType<string, never, never>
}

interface ProspectAttemptsTable {
  id: string
  workspace_id: BoundWorkspace
  campaign_id: string | null
  prospect_id: string | null
  n: number
  phone: string
  from_number: string
  call_id: string
  created_at: Date
  ended_at: Date | null
  outcome: string | null
  charged: Generated<boolean>
  skipped_for: string | null
  skipped_sentence: string | null
  answered_by: string | null
  cost: number | null
  checks: Json<Record<string, string>>
}

interface DoNotCallTable {
  workspace_id: BoundWorkspace
  phone: string
  reason: Generated<string>
  source: 'api' | 'upload' | 'call'
  call_id: string | null
  words: string | null
  created_at: Date
}

/** Sets of zones and states whose hours must all be open; the same for all workspaces. */
interface WindowGroupsTable {
  id: Generated<number>
  key: string
  zones: string[]
  regions: string[]
}

export type Campaign = Selectable<CampaignsTable>

export type ProspectAttempt = Selectable<ProspectAttemptsTable>

export type DoNotCall = Selectable<DoNotCallTable>

/** Of no single workspace. */
export interface GlobalCampaignTables {
  window_groups: WindowGroupsTable
}

/** Of a workspace. */
export interface TenantCampaignTables {
  campaigns: CampaignsTable
  campaign_runs: CampaignRunsTable
  campaign_days: CampaignDaysTable
  campaign_call_counts: CampaignCallCountsTable
  prospect_attempts: ProspectAttemptsTable
  do_not_call: DoNotCallTable
}

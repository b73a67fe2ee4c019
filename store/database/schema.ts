import type { GlobalAccountTables, TenantAccountTables } from '../accounts/tables.ts'
import type { TenantTestTables } from '../agent-tests/tables.ts'
import type { TenantAgentTables } from '../agents/tables.ts'
import type { GlobalBatchTables, TenantBatchTables } from '../batches/tables.ts'
import type { TenantCallTables } from '../calls/tables.ts'
import type { GlobalCampaignTables, TenantCampaignTables } from '../campaigns/tables.ts'
import type { GlobalEventTables, TenantEventTables } from '../events/tables.ts'
import type { TenantKnowledgeTables } from '../knowledge/tables.ts'
import type { GlobalProspectTables, TenantProspectTables } from '../prospects/tables.ts'
import type { GlobalTelephonyTables, TenantTelephonyTables } from '../telephony/tables.ts'
import type { GlobalWorkspaceTables } from '../workspaces/tables.ts'
import type { GlobalDatabaseTables, TenantDatabaseTables } from './tables.ts'

/**
 * The tables as Kysely types; the truth is store/migrations. Times are `Date`, bigints are numbers, ids are strings.
 * A tenant table has `workspace_id`, which only the tenant handle (store/database/tenant.ts) writes and compares.
 */

export type * from '../accounts/tables.ts'
export type * from '../agent-tests/tables.ts'
export type * from '../agents/tables.ts'
export type * from '../batches/tables.ts'
export type * from '../calls/tables.ts'
export type * from '../campaigns/tables.ts'
export type * from '../events/tables.ts'
export type * from '../knowledge/tables.ts'
export type * from '../prospects/tables.ts'
export type * from '../telephony/tables.ts'
export type * from '../workspaces/tables.ts'
export type * from './tables.ts'

/** Tables of no single workspace: any code may query them. */
export interface GlobalTables
  extends GlobalAccountTables,
    GlobalWorkspaceTables,
    GlobalDatabaseTables,
    GlobalTelephonyTables,
    GlobalBatchTables,
    GlobalCampaignTables,
    GlobalProspectTables,
    GlobalEventTables {}

/** Tables of a workspace. Add a name to TENANT_TABLES in store/database/tenant.ts, too; a type error says when one is missing. */
export interface TenantTables
  extends TenantAccountTables,
    TenantDatabaseTables,
    TenantTelephonyTables,
    TenantAgentTables,
    TenantTestTables,
    TenantCallTables,
    TenantKnowledgeTables,
    TenantBatchTables,
    TenantCampaignTables,
    TenantProspectTables,
    TenantEventTables {}

export type AllTables = GlobalTables & TenantTables

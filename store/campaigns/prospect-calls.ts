import type { Store } from '../database/database.ts'
import type { Campaign } from '../database/schema.ts'
import type { Tenant } from '../database/tenant.ts'

/** The prospect of a running campaign call. */
interface CampaignCall {
  tenant: Tenant
  campaign: Campaign
  phone: string
  /** Undefined: a test call, or the prospect was deleted. */
  prospectId: string | undefined
  zones: readonly string[]
  regions: readonly string[]
}

/** Undefined for a call of no campaign. */
export async function campaignOfCall(store: Store, callId: string): Promise<CampaignCall | undefined> {
  const call = await store.acrossTenants
    .selectFrom('calls')
    .select(['workspace_id', 'campaign_slug', 'to_number', 'direction'])
    .where('id', '=', callId)
    .executeTakeFirst()
  if (call === undefined || call.campaign_slug === null || call.to_number === null) return undefined
  const tenant = store.tenant(call.workspace_id)
  const campaign = await tenant.db
    .selectFrom('campaigns')
    .selectAll()
    .where('slug', '=', call.campaign_slug)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  if (campaign === undefined) return undefined
  const prospect = await tenant.db
    .selectFrom('prospect_attempts')
    .innerJoin('prospects', 'prospects.id', 'prospect_attempts.prospect_id')
    .select(['prospects.id', 'prospects.window_group'])
    .where('prospect_attempts.call_id', '=', callId)
    .executeTakeFirst()
  const group =
    prospect &&
    (await store.global
      .selectFrom('window_groups')
      .select(['zones', 'regions'])
      .where('id', '=', prospect.window_group)
      .executeTakeFirst())
  return {
    tenant,
    campaign,
    phone: call.to_number,
    prospectId: prospect?.id,
    zones: group?.zones ?? [],
    regions: group?.regions ?? [],
  }
}

/** The callee named a time; the call's end makes it the next attempt. */
export async function keepCallBack(tenant: Tenant, prospectId: string, at: Date): Promise<void> {
  await tenant.db.updateTable('prospects').set({ call_back_at: at }).where('id', '=', prospectId).execute()
}

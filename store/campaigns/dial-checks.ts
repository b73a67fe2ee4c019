import { sql } from 'kysely'
import type { Campaign, Prospect } from '../database/schema.ts'
import type { Tenant } from '../database/tenant.ts'

/** What is looked at once more right before the carrier is asked. */
interface DialFacts {
  listed: boolean
  /** Undefined: the call is no prospect's. */
  attempt: { campaign: Campaign; prospect: Prospect | undefined; zones: string[]; regions: string[] } | undefined
}

export async function dialFacts(tenant: Tenant, call: { id: string; to_number: string | null }): Promise<DialFacts> {
  const attempt = await tenant.db
    .selectFrom('prospect_attempts')
    .select(['campaign_id', 'prospect_id'])
    .where('call_id', '=', call.id)
    .executeTakeFirst()
  const listed = await tenant.db
    .selectFrom('do_not_call')
    .select('phone')
    .where('phone', '=', call.to_number ?? '')
    .executeTakeFirst()
  if (attempt === undefined || attempt.campaign_id === null) return { listed: listed !== undefined, attempt: undefined }
  const [campaign, prospect] = await Promise.all([
    tenant.db.selectFrom('campaigns').selectAll().where('id', '=', attempt.campaign_id).executeTakeFirst(),
    attempt.prospect_id === null
      ? undefined
      : tenant.db.selectFrom('prospects').selectAll().where('id', '=', attempt.prospect_id).executeTakeFirst(),
  ])
  if (campaign === undefined) return { listed: listed !== undefined, attempt: undefined }
  const { rows } = await sql<{ zones: string[]; regions: string[] }>`
    select zones, regions from window_groups where id = ${prospect?.window_group ?? 0}`.execute(tenant.db)
  const [group] = rows
  return {
    listed: listed !== undefined,
    attempt: { campaign, prospect, zones: group?.zones ?? [], regions: group?.regions ?? [] },
  }
}

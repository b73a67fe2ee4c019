import { sql } from 'kysely'
import { uuidv7 } from 'uuidv7'
import type { Campaign } from '../database/schema.ts'
import type { Tenant } from '../database/tenant.ts'
import { expiryOf } from './prospects.ts'

const ROWS_A_STATEMENT = 5_000

/** Copies the prospects of a campaign that are not resolved into a list of another, as new ones, some thousand a statement. */
export async function copyUnresolved(
  tenant: Tenant,
  to: { fromCampaignId: string; campaign: Campaign; listId: string },
  now: Date,
): Promise<void> {
  const { workspaceId } = tenant
  const expiresAt = expiryOf(to.campaign.expire_days, now)
  let after = '00000000-0000-0000-0000-000000000000'
  for (;;) {
    const ids = await tenant.db
      .selectFrom('prospects')
      .select('id')
      .where('campaign_id', '=', to.fromCampaignId)
      .where('status', '!=', 'resolved')
      .where('id', '>', after)
      .orderBy('id')
      .limit(ROWS_A_STATEMENT)
      .execute()
    if (ids.length === 0) return
    const from = ids.map(({ id }) => id)
    const made = ids.map(() => uuidv7())
    await sql`
      insert into prospects (id, workspace_id, campaign_id, list_id, phone, first_name, last_name, email, state, postal_code,
        timezone, external_id, variables, metadata, consent_at, window_group, created_at, expires_at)
      select ids.made, ${workspaceId}, ${to.campaign.id}, ${to.listId}, phone, first_name, last_name, email, state,
        postal_code, timezone, external_id, variables, metadata, consent_at, window_group, ${now}, ${expiresAt}
      from unnest(${from}::uuid[], ${made}::uuid[]) as ids (id, made)
      join prospects p on p.id = ids.id and p.workspace_id = ${workspaceId}`.execute(tenant.db)
    after = from[from.length - 1]!
  }
}

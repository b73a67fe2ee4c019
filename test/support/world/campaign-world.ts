import { uuidv7 } from 'uuidv7'
import { type CampaignWithLists, insertCampaign } from '../../../store/campaigns/campaigns.ts'
import { claimProspects } from '../../../store/campaigns/prospect-claims.ts'
import { windowGroupOf } from '../../../store/campaigns/window-groups.ts'
import { openStore, type Store } from '../../../store/database/database.ts'
import type { Campaign } from '../../../store/database/schema.ts'
import type { Tenant } from '../../../store/database/tenant.ts'
import { insertProspect } from '../../../store/prospects/prospects.ts'
import { type Teardown, testDatabase } from '../instance/services.ts'
import { campaignFields } from './campaigns.ts'

/** A workspace with an agent and a number, whose campaigns a test claims from by hand. */
export interface CampaignWorld {
  store: Store
  databaseUrl: string
  tenant: Tenant
  agentId: string
  /** The group everybody is in. */
  groupId: number
  campaign(fields?: Record<string, unknown>): Promise<CampaignWithLists>
  /** Adds a prospect and returns its id. */
  prospect(campaign: CampaignWithLists, phone: string, fields?: Record<string, unknown>): Promise<string>
  claim(
    campaign: Campaign,
    now: Date,
    more?: { most?: number; maxPer24h?: number; groups?: readonly number[] },
  ): Promise<{ id: string }[]>
  /** Ends a call as the carrier or the session would. */
  end(callId: string, end: Record<string, unknown>, at: Date): Promise<void>
}

export const NUMBER = '+12125550100'

export async function campaignWorld(t: Teardown): Promise<CampaignWorld> {
  const databaseUrl = await testDatabase(t)
  const store = openStore({ databaseUrl, maxConnections: 10 })
  t.teardown(() => store.close())
  const [workspaceId, agentId] = [uuidv7(), uuidv7()]
  const tenant = store.tenant(workspaceId)
  await store.global
    .insertInto('workspaces')
    .values({ id: workspaceId, name: 'w', type: 'test', slug: workspaceId, deleted_at: null })
    .execute()
  await tenant.db
    .insertInto('agents')
    .values({
      id: agentId,
      agent_name: 'Ada',
      llm_provider: 'offline',
      llm_model: 'm',
      temperature: 0,
      system_prompt: 'p',
      first_message: 'f',
      stt_provider: 'sim',
      stt_model: 'm',
      tts_provider: 'sim',
      tts_voice: 'v',
    })
    .execute()
  const number = { phone_number: NUMBER, agent_id: agentId, provider: 'sim', trunk: null }
  await tenant.db.insertInto('phone_numbers').values(number).execute()
  const group = await windowGroupOf(store, { zones: ['America/New_York'], regions: ['US-NY'] })
  return {
    store,
    databaseUrl,
    tenant,
    agentId,
    groupId: group.id,
    campaign: (fields = {}) =>
      // Its prospects came at the beginning of time.
      insertCampaign(tenant, campaignFields({ name: 'c', agent_id: agentId, expire_days: -1, ...fields }), new Date(0)),
    async prospect(campaign, phone, fields = {}) {
      const [list] = campaign.lists
      const row = { phone, window_group: group.id, consent_at: null, ...fields } as never
      const made = await insertProspect(tenant, { campaign, listId: list!.id }, row, new Date(0))
      if (typeof made === 'string') throw new Error(made)
      await tenant.db.updateTable('prospects').set({ expires_at: null }).where('id', '=', made.id).execute()
      return made.id
    },
    claim: (campaign, now, { most = 10, maxPer24h, groups = [group.id] } = {}) =>
      claimProspects(tenant, {
        campaign,
        agent: { id: agentId, name: 'Ada' },
        groups: groups.map((id) => ({ id, maxPer24h, check: '' })),
        most,
        chooseNumber: () => NUMBER,
        now,
      }),
    async end(callId, end, at) {
      await tenant.db
        .updateTable('calls')
        .set({
          status: 'busy',
          end_reason: 'busy',
          disposition: 'busy',
          placed_at: at,
          ended_at: at,
          duration_ms: 0,
          ...end,
        })
        .where('id', '=', callId)
        .execute()
    },
  }
}

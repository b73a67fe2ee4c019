import { CreateCampaign, columnsOf } from '../../../api/campaigns/schema.ts'
import { compileCheck } from '../../../api/schema.ts'
import type { CampaignFields } from '../../../store/campaigns/campaigns.ts'

const check = compileCheck(CreateCampaign)

/** The columns of a campaign with these fields and the defaults of the rest. */
export function campaignFields(fields: Record<string, unknown>): CampaignFields {
  return columnsOf(check(fields, 'body') as never) as CampaignFields
}

import { PatchbayError } from '../../runtime/lib/errors.ts'
import type { CampaignWithLists } from '../../store/campaigns/campaigns.ts'
import { campaignBySlug } from '../../store/campaigns/campaigns.ts'
import type { WorkspaceRole } from '../../store/database/schema.ts'
import type { Tenant } from '../../store/database/tenant.ts'
import { workspacesOf } from '../../store/workspaces/workspaces.ts'
import { roleRefusal } from '../auth/roles.ts'
import { isUuid } from '../ids.ts'
import type { ApiRequest, Auth } from '../route.ts'
import type { Services } from '../services.ts'

/** The workspace a query or body names, if the caller may work there; the active one when it names none. */
export async function tenantOf(
  request: Pick<ApiRequest<string, Auth, WorkspaceRole>, 'enter' | 'tenant' | 'user'>,
  services: Pick<Services, 'store'>,
  workspace: string | null | undefined,
  least: WorkspaceRole,
): Promise<Tenant> {
  if (workspace === undefined || workspace === null || workspace === request.tenant.workspaceId) return request.tenant
  const mine = request.user === undefined ? [] : await workspacesOf(services.store.global, request.user.id)
  const found = isUuid(workspace) ? mine.find(({ id }) => id === workspace) : undefined
  if (found === undefined) throw new PatchbayError('not_a_member')
  const refusal = roleRefusal(found.role, least)
  if (refusal !== undefined) throw new PatchbayError(refusal)
  return request.enter({ workspaceId: found.id, role: found.role, isSuspended: found.suspended_at !== null })
}

export async function requireCampaign(tenant: Tenant, slug: string): Promise<CampaignWithLists> {
  const campaign = await campaignBySlug(tenant, slug)
  if (campaign === undefined) throw new PatchbayError('campaign_not_found')
  return campaign
}

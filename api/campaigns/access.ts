import { type ErrorCode, PatchbayError } from '../../runtime/lib/errors.ts'
import type { CampaignWithLists } from '../../store/campaigns/campaigns.ts'
import { campaignBySlug } from '../../store/campaigns/campaigns.ts'
import type { WorkspaceRole } from '../../store/database/schema.ts'
import type { Tenant } from '../../store/database/tenant.ts'
import { workspacesOf } from '../../store/workspaces/workspaces.ts'
import { roleRefusal } from '../auth/roles.ts'
import { isUuid } from '../ids.ts'
import type { ApiRequest, Auth } from '../route.ts'
import type { Services } from '../services.ts'

type Caller = Pick<ApiRequest<string, Auth, WorkspaceRole>, 'enter' | 'tenant' | 'role' | 'user'>

/** The workspace a query names, or all of the caller's. */
export async function tenantsOf(
  request: Caller,
  services: Pick<Services, 'store'>,
  workspace: string | undefined,
): Promise<Tenant[]> {
  if (workspace !== undefined || request.user === undefined)
    return [await tenantOf(request, services, workspace, 'member')]
  const mine = await workspacesOf(services.store.global, request.user.id)
  return mine.map(({ id }) => services.store.tenant(id))
}

/** The workspace a query or body names, if the caller may work there; the active one when it names none. */
export async function tenantOf(
  request: Caller,
  services: Pick<Services, 'store'>,
  workspace: string | null | undefined,
  least: WorkspaceRole,
): Promise<Tenant> {
  const refuse = (refusal: ErrorCode | undefined) => {
    if (refusal !== undefined) throw new PatchbayError(refusal)
  }
  if (workspace === undefined || workspace === null || workspace === request.tenant.workspaceId) {
    refuse(roleRefusal(request.role, least))
    return request.tenant
  }
  const mine = request.user === undefined ? [] : await workspacesOf(services.store.global, request.user.id)
  const found = isUuid(workspace) ? mine.find(({ id }) => id === workspace) : undefined
  if (found === undefined) throw new PatchbayError('not_a_member')
  refuse(roleRefusal(found.role, least))
  return request.enter({ workspaceId: found.id, role: found.role, isSuspended: found.suspended_at !== null })
}

export const hasCampaign = async ({ slug }: { slug: string }, tenant: Tenant): Promise<boolean> =>
  (await campaignBySlug(tenant, slug)) !== undefined

/** The campaign of that slug in any workspace of the caller, the active one first. Throws `campaign_not_found`, and 403 of its workspace. */
export async function campaignOfAny(
  request: Caller,
  services: Pick<Services, 'store'>,
  slug: string,
  least: WorkspaceRole,
): Promise<{ tenant: Tenant; campaign: CampaignWithLists }> {
  const { store } = services
  const others = request.user === undefined ? [] : await workspacesOf(store.global, request.user.id)
  for (const id of [request.tenant.workspaceId, ...others.map((one) => one.id)]) {
    const campaign = await campaignBySlug(store.tenant(id), slug)
    if (campaign !== undefined) return { tenant: await tenantOf(request, services, id, least), campaign }
  }
  throw new PatchbayError('campaign_not_found')
}

export async function requireCampaign(tenant: Tenant, slug: string): Promise<CampaignWithLists> {
  const campaign = await campaignBySlug(tenant, slug)
  if (campaign === undefined) throw new PatchbayError('campaign_not_found')
  return campaign
}

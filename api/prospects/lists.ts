import { type Static, Type } from 'typebox'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import type { Tenant } from '../../store/database/tenant.ts'
import {
  deleteList,
  insertList,
  type ListWithCounts,
  listById,
  listBySlug,
  listsOf,
  updateList,
} from '../../store/prospects/prospect-lists.ts'
import { uploadsOf } from '../../store/prospects/prospect-uploads.ts'
import { campaignOfAny } from '../campaigns/access.ts'
import { campaignExample } from '../campaigns/schema.ts'
import { isUuid } from '../ids.ts'
import { ListOf, ListQuery, listOf } from '../paging.ts'
import { defineRoute } from '../route.ts'
import { NameInput } from '../schema.ts'
import { Detail } from '../workspaces/schema.ts'
import { listExample, ProspectListBody, prospectListBody } from './schema.ts'

const tag = 'Prospects'
const list_slug = { description: "The list's slug.", example: listExample.list_slug } as const

const create = defineRoute({
  method: 'POST',
  path: '/api/v/list/',
  audit: ['name'],
  trailingSlash: true,
  auth: 'jwt_or_scope',
  scope: 'campaigns',
  role: 'developer',
  body: Type.Object({
    campaign: Type.String({ maxLength: 100, description: "The campaign's slug." }),
    name: NameInput,
  }),
  success: { status: 201, schema: ProspectListBody },
  errors: ['campaign_not_found'],
  tag,
  summary: 'Make a further list of a campaign',
  examples: { body: { campaign: campaignExample.slug, name: 'March' }, success: { ...listExample, uploads: [] } },
  handler: async (request, services) => {
    const { body } = request
    const { tenant, campaign } = await campaignOfAny(request, services, body.campaign, 'developer')
    const now = new Date(services.clock.nowMs())
    const { slug } = await insertList(tenant, { campaignId: campaign.id, name: body.name }, now)
    return bodyOf(tenant, await requireList(tenant, slug))
  },
})

const all = defineRoute({
  method: 'GET',
  path: '/api/v/list/',
  trailingSlash: true,
  auth: 'jwt_or_scope',
  scope: 'campaigns',
  role: 'member',
  query: Type.Object({
    ...ListQuery.properties,
    campaign: Type.Optional(Type.String({ maxLength: 100, description: "The campaign's slug." })),
  }),
  success: { status: 200, schema: ListOf(ProspectListBody) },
  errors: ['campaign_not_found'],
  tag,
  summary: 'The lists of a campaign, or of the workspace',
  examples: { success: [listExample] },
  handler: async (request, services) => {
    const { query } = request
    const { tenant, campaign } =
      query.campaign === undefined
        ? { tenant: request.tenant, campaign: undefined }
        : await campaignOfAny(request, services, query.campaign, 'member')
    const lists = await listsOf(tenant, campaign?.id)
    const uploads = await uploadsOf(
      tenant,
      lists.map(({ id }) => id),
    )
    return listOf(
      lists.map((list) => prospectListBody(list, uploads)),
      query,
    )
  },
})

const read = defineRoute({
  method: 'GET',
  path: '/api/v/list/{list_slug}/',
  trailingSlash: true,
  auth: 'jwt_or_scope',
  scope: 'campaigns',
  role: 'member',
  params: { list_slug },
  isThere: async ({ list_slug }, tenant) => (await listBySlug(tenant, list_slug)) !== undefined,
  success: { status: 200, schema: ProspectListBody },
  errors: ['prospect_list_not_found'],
  tag,
  summary: 'One list, with its uploads',
  examples: { success: listExample },
  handler: async ({ params, tenant }) => bodyOf(tenant, await requireList(tenant, params.list_slug)),
})

const change = defineRoute({
  method: 'PATCH',
  path: '/api/v/list/{list_slug}/',
  audit: ['name'],
  trailingSlash: true,
  auth: 'jwt_or_scope',
  scope: 'campaigns',
  role: 'developer',
  params: { list_slug },
  isThere: async ({ list_slug }, tenant) => (await listBySlug(tenant, list_slug)) !== undefined,
  body: Type.Object({ name: Type.Optional(NameInput), active: Type.Optional(Type.Boolean()) }),
  success: { status: 200, schema: ProspectListBody },
  errors: ['prospect_list_not_found'],
  tag,
  summary: 'Rename a list, or let it be dialled or not',
  examples: { body: { active: false }, success: { ...listExample, active: false } },
  handler: async ({ body, params, tenant }, { clock }) => {
    const list = await requireList(tenant, params.list_slug)
    await updateList(tenant, list, body, new Date(clock.nowMs()))
    return bodyOf(tenant, await requireList(tenant, params.list_slug))
  },
})

const remove = defineRoute({
  method: 'DELETE',
  path: '/api/v/list/{list_slug}/',
  trailingSlash: true,
  auth: 'jwt_or_scope',
  scope: 'delete',
  role: 'admin',
  params: { list_slug },
  isThere: async ({ list_slug }, tenant) => (await listBySlug(tenant, list_slug)) !== undefined,
  success: { status: 200, schema: Detail },
  errors: ['prospect_list_not_found', 'prospect_list_running'],
  tag,
  summary: 'Delete a list with its prospects',
  examples: { success: { detail: 'Prospect list deleted' } },
  handler: async ({ params, tenant }, { clock }) => {
    const list = await requireList(tenant, params.list_slug)
    if (!(await deleteList(tenant, list, new Date(clock.nowMs())))) throw new PatchbayError('prospect_list_running')
    return { detail: 'Prospect list deleted' }
  },
})

export const hasList = async ({ uuid }: { uuid: string }, tenant: Tenant) =>
  isUuid(uuid) && (await listById(tenant, uuid)) !== undefined

export async function requireList(tenant: Tenant, slug: string): Promise<ListWithCounts> {
  const list = await listBySlug(tenant, slug)
  if (list === undefined) throw new PatchbayError('prospect_list_not_found')
  return list
}

async function bodyOf(tenant: Tenant, list: ListWithCounts): Promise<Static<typeof ProspectListBody>> {
  return prospectListBody(list, await uploadsOf(tenant, [list.id]))
}

export const prospectListRoutes = [create, all, read, change, remove]

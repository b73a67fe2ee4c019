import { PatchbayError } from '../../runtime/lib/errors.ts'
import { workspaceById } from '../../store/accounts/instance.ts'
import { approveTrunkHost, listTrunkHosts, removeTrunkHost } from '../../store/telephony/trunk-hosts.ts'
import { ListOf, ListQuery, listOf } from '../paging.ts'
import { defineRoute } from '../route.ts'
import { bareHost } from '../trunks/hops.ts'
import { Detail } from '../workspaces/schema.ts'
import { TrunkHostBody, TrunkHostInput, trunkHostBody, trunkHostExample } from './schema.ts'

/** Which hosts and addresses the trunks of which workspace may name. */

const common = { auth: 'jwt', role: 'operator', tag: 'Operator' } as const

const list = defineRoute({
  ...common,
  method: 'GET',
  path: '/operator/trunk-hosts',
  query: ListQuery,
  success: { status: 200, schema: ListOf(TrunkHostBody) },
  summary: 'The trunk hosts and ranges of addresses that are approved, with their workspaces',
  examples: { success: [trunkHostExample] },
  handler: async ({ query }, { store }) => listOf((await listTrunkHosts(store.global)).map(trunkHostBody), query),
})

const approve = defineRoute({
  ...common,
  method: 'POST',
  path: '/operator/trunk-hosts',
  audit: ['host', 'workspace_id'],
  body: TrunkHostInput,
  success: { status: 201, schema: TrunkHostBody },
  errors: ['workspace_not_found'],
  summary: 'Approve a host, or a range of addresses, for the trunks of a workspace',
  description:
    'Also a private address or a range wider than /24 (IPv6: /48), which no workspace may name otherwise. What is approved for one workspace can’t be used by others.',
  examples: {
    body: { host: 'sip.example.com', workspace_id: trunkHostExample.workspace_id },
    success: trunkHostExample,
  },
  handler: async ({ body, user }, { store }) => {
    const workspace = await workspaceById(store, body.workspace_id)
    if (workspace === undefined) throw new PatchbayError('workspace_not_found')
    const approval = { host: bareHost(body.host), workspaceId: workspace.id, approvedBy: user.id }
    return trunkHostBody(await approveTrunkHost(store.global, approval))
  },
})

const disapprove = defineRoute({
  ...common,
  method: 'DELETE',
  path: '/operator/trunk-hosts/{trunk_host_id}',
  params: {
    trunk_host_id: {
      description: 'The approval.',
      notFound: 'trunk_host_not_found',
      example: trunkHostExample.trunk_host_id,
    },
  },
  success: { status: 200, schema: Detail },
  summary: 'Take back the approval of a trunk host; trunks that name it stay as they are',
  examples: { success: { detail: 'Trunk host removed' } },
  handler: async ({ params }, { store }) => {
    if (!(await removeTrunkHost(store, params.trunk_host_id))) throw new PatchbayError('trunk_host_not_found')
    return { detail: 'Trunk host removed' }
  },
})

export const trunkHostRoutes = [list, approve, disapprove]

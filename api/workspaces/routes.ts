import { setTimeout as sleep } from 'node:timers/promises'
import { PatchbayError } from '../../runtime/errors.ts'
import {
  addMemberByEmail,
  createWorkspace,
  deleteWorkspace,
  limitWorkspace,
  membersOf,
  removeMember,
  switchWorkspace,
  workspacesOf,
} from '../../store/workspaces.ts'
import { ListOf, ListQuery, listOf } from '../paging.ts'
import { defineRoute } from '../route.ts'
import {
  ChangeWorkspaceInput,
  CreateWorkspaceInput,
  Detail,
  InviteInput,
  MemberBody,
  memberBody,
  WorkspaceBody,
  workspaceBody,
  workspaceExample,
} from './schema.ts'

const tag = 'Workspaces'

/** An invitation takes at least this long, so that its time does not tell whether the e-mail is known. */
const INVITE_TIME_MS = 50

const workspace_id = {
  description: 'The workspace.',
  notFound: 'workspace_not_found',
  example: workspaceExample.workspace_id,
} as const

const create = defineRoute({
  method: 'POST',
  path: '/workspaces',
  auth: 'jwt',
  role: 'none',
  body: CreateWorkspaceInput,
  success: { status: 201, schema: WorkspaceBody },
  tag,
  summary: 'Make a workspace; its creator becomes Admin',
  examples: { body: { name: 'Analytical Engines', type: 'team' }, success: workspaceExample },
  handler: async ({ body, user }, { store }) =>
    workspaceBody(await createWorkspace(store.global, { name: body.name, type: body.type, adminId: user.id })),
})

const list = defineRoute({
  method: 'GET',
  path: '/workspaces',
  auth: 'jwt',
  role: 'none',
  query: ListQuery,
  success: { status: 200, schema: ListOf(WorkspaceBody) },
  tag,
  summary: 'The workspaces the user belongs to',
  examples: { success: [workspaceExample] },
  handler: async ({ user, query }, { store }) =>
    listOf((await workspacesOf(store.global, user.id)).map(workspaceBody), query),
})

const change = defineRoute({
  method: 'POST',
  path: '/workspaces/{workspace_id}/switch',
  auth: 'jwt',
  role: 'member',
  whenSuspended: 'served',
  workspace: 'path',
  params: { workspace_id },
  success: { status: 200, schema: WorkspaceBody },
  tag,
  summary: 'Work in this workspace when no X-Workspace-Id is sent',
  examples: { success: workspaceExample },
  handler: async ({ user, tenant }, { store }) =>
    workspaceBody(await switchWorkspace(store.global, user.id, tenant.workspaceId)),
})

const limit = defineRoute({
  method: 'PATCH',
  path: '/workspaces/{workspace_id}',
  auth: 'jwt',
  role: 'admin',
  workspace: 'path',
  params: { workspace_id },
  body: ChangeWorkspaceInput,
  success: { status: 200, schema: WorkspaceBody },
  tag,
  summary: 'Choose how many phone calls a workspace may have at once',
  examples: { body: { max_concurrent_calls: 10 }, success: { ...workspaceExample, max_concurrent_calls: 10 } },
  handler: async ({ user, tenant, body }, { store }) => {
    await limitWorkspace(store.global, tenant.workspaceId, body.max_concurrent_calls)
    const all = await workspacesOf(store.global, user.id)
    const limited = all.find(({ id }) => id === tenant.workspaceId)
    if (limited === undefined) throw new PatchbayError('workspace_not_found')
    return workspaceBody(limited)
  },
})

const members = defineRoute({
  method: 'GET',
  path: '/workspaces/{workspace_id}/members',
  auth: 'jwt',
  role: 'member',
  workspace: 'path',
  params: { workspace_id },
  query: ListQuery,
  success: { status: 200, schema: ListOf(MemberBody) },
  tag,
  summary: 'The members of a workspace',
  examples: {
    success: [
      {
        user_id: '0197f3a2-7c1e-7000-8000-000000000001',
        name: 'Ada Lovelace',
        email: 'ada@example.com',
        role: 'admin',
        joined_at: '2026-01-31T09:00:00.000Z',
      },
    ],
  },
  handler: async ({ tenant, query }, { store }) =>
    listOf((await membersOf(store.global, tenant.workspaceId)).map(memberBody), query),
})

const invite = defineRoute({
  method: 'POST',
  path: '/workspaces/{workspace_id}/invite',
  auth: 'jwt',
  role: 'admin',
  workspace: 'path',
  params: { workspace_id },
  body: InviteInput,
  success: { status: 200, schema: Detail },
  tag,
  summary: 'Make a registered user a member',
  description: 'The answer does not tell whether the e-mail address is registered. A member keeps their role.',
  examples: {
    body: { email: 'grace@example.com', role: 'developer' },
    success: { detail: 'Invitation processed' },
  },
  handler: async ({ body, tenant }, { store }) => {
    await Promise.all([
      addMemberByEmail(store.global, tenant.workspaceId, body.email, body.role),
      sleep(INVITE_TIME_MS),
    ])
    return { detail: 'Invitation processed' }
  },
})

const removeOne = defineRoute({
  method: 'DELETE',
  path: '/workspaces/{workspace_id}/members/{user_id}',
  auth: 'jwt',
  role: 'admin',
  whenSuspended: 'served',
  workspace: 'path',
  params: { workspace_id, user_id: { description: 'The member.', notFound: 'member_not_found' } },
  success: { status: 200, schema: Detail },
  errors: ['member_not_found', 'last_admin'],
  tag,
  summary: 'Remove a member',
  examples: { success: { detail: 'Member removed' } },
  handler: async ({ params, tenant }, { store }) => {
    await removeMember(store.global, tenant.workspaceId, params.user_id)
    return { detail: 'Member removed' }
  },
})

const remove = defineRoute({
  method: 'DELETE',
  path: '/workspaces/{workspace_id}',
  auth: 'jwt',
  role: 'admin',
  whenSuspended: 'served',
  workspace: 'path',
  params: { workspace_id },
  success: { status: 200, schema: Detail },
  tag,
  summary: 'Delete a workspace and everything in it, for good',
  examples: { success: { detail: 'Workspace deleted' } },
  handler: async ({ tenant }, { store }) => {
    await deleteWorkspace(store.global, tenant.workspaceId)
    return { detail: 'Workspace deleted' }
  },
})

export const workspaceRoutes = [create, list, change, limit, members, invite, removeOne, remove]

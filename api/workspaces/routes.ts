import { setTimeout as sleep } from 'node:timers/promises'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { changeRole } from '../../store/accounts/accounts.ts'
import { invitationsTo, inviteByEmail, joinByEmail, withdrawInvitation } from '../../store/accounts/invitations.ts'
import { retentionOf, setRetention } from '../../store/workspaces/retention.ts'
import {
  changeWorkspace,
  createWorkspace,
  deleteWorkspace,
  membersOf,
  removeMember,
  switchWorkspace,
  workspacesOf,
} from '../../store/workspaces/workspaces.ts'
import { mailInvitation, oneTimeLink } from '../auth/links.ts'
import { LANGUAGE_HEADER } from '../auth/mail-language.ts'
import { effectiveSignup } from '../auth/signup-policy.ts'
import { ListOf, ListQuery, listOf } from '../paging.ts'
import { defineRoute } from '../route.ts'
import { quotasOfNewWorkspace } from './new-workspace.ts'
import {
  ChangeWorkspaceInput,
  CreateWorkspaceInput,
  Detail,
  InvitationBody,
  InvitationLinkBody,
  InvitationLinkInput,
  InviteInput,
  invitationBody,
  invitationExample,
  invitationLinkExample,
  MemberBody,
  memberBody,
  RetentionBody,
  RetentionInput,
  RoleInput,
  WorkspaceBody,
  workspaceBody,
  workspaceExample,
} from './schema.ts'

const tag = 'Workspaces'
const retentionExample = { recordings_days: 30, transcripts_days: null, chats_days: 365, logs_days: null }

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
  handler: async ({ body, user }, services) => {
    const { name, type } = body
    const quotas = quotasOfNewWorkspace(services, user)
    return workspaceBody(await createWorkspace(services.store.global, { name, type, adminId: user.id, quotas }))
  },
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
  audit: ['name'],
  auth: 'jwt',
  role: 'admin',
  workspace: 'path',
  params: { workspace_id },
  body: ChangeWorkspaceInput,
  success: { status: 200, schema: WorkspaceBody },
  tag,
  summary: 'Rename a workspace, choose how many phone calls it may have at once, and which numbers it may call',
  description: 'Fields that are left out keep their values. What the operator allows is not widened by it.',
  examples: { body: { max_concurrent_calls: 10 }, success: { ...workspaceExample, max_concurrent_calls: 10 } },
  handler: async ({ user, tenant, body }, { store }) => {
    const given = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined))
    await changeWorkspace(store.global, tenant.workspaceId, given)
    const all = await workspacesOf(store.global, user.id)
    const changed = all.find(({ id }) => id === tenant.workspaceId)
    if (changed === undefined) throw new PatchbayError('workspace_not_found')
    return workspaceBody(changed)
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
  summary: 'Invite a registered user',
  description:
    'They are a member at once; with `PATCHBAY_INVITATIONS=accept` only after they accept (`POST /auth/invitations/{invitation_id}/accept`). The answer does not tell whether the address is registered; a member stays as they are. For somebody who is not registered, create an invitation link.',
  examples: {
    body: { email: 'grace@example.com', role: 'developer' },
    success: { detail: 'Invitation processed' },
  },
  audit: ['email', 'role'],
  handler: async ({ body, tenant, user }, { store, config }) => {
    const invitation = { ...body, workspaceId: tenant.workspaceId, invitedBy: user.id }
    const invited = config.invitations === 'accept' ? inviteByEmail : joinByEmail
    await Promise.all([invited(store.global, invitation), sleep(INVITE_TIME_MS)])
    return { detail: 'Invitation processed' }
  },
})

const inviteByLink = defineRoute({
  method: 'POST',
  path: '/workspaces/{workspace_id}/invitation-links',
  auth: 'jwt',
  role: 'admin',
  workspace: 'path',
  params: { workspace_id },
  body: InvitationLinkInput,
  success: { status: 201, schema: InvitationLinkBody },
  errors: ['signup_closed'],
  tag,
  summary: 'Create a link by which somebody signs up and becomes a member',
  description:
    'Works once, within a week; with `email` for this address alone. It ends when its creator is no Admin any more, or when it is withdrawn as an invitation. Where a mail server is set and `email` is given, it is mailed, too. While the operator keeps signup closed, only an operator can create one.',
  examples: { body: { email: 'grace@example.com', role: 'developer' }, success: invitationLinkExample },
  audit: ['email', 'role'],
  headers: [LANGUAGE_HEADER],
  handler: async (request, services) => {
    const { body, tenant, user } = request
    const isOperator = services.operators.includes(user)
    if (!isOperator && (await effectiveSignup(services)) === 'closed') throw new PatchbayError('signup_closed')
    const { email = '', role } = body
    const joins = { workspaceId: tenant.workspaceId, role }
    const link = await oneTimeLink(services, { kind: 'signup', userId: null, email, createdBy: user.id, joins })
    if (email !== '') await mailInvitation(request, services, { email, to: 'workspace', link: link.link })
    return link
  },
})

const invitations = defineRoute({
  method: 'GET',
  path: '/workspaces/{workspace_id}/invitations',
  auth: 'jwt',
  role: 'admin',
  workspace: 'path',
  params: { workspace_id },
  query: ListQuery,
  success: { status: 200, schema: ListOf(InvitationBody) },
  tag,
  summary: 'The invitations and links that nobody has accepted or used yet',
  examples: { success: [invitationExample] },
  handler: async ({ tenant, query }, { store, clock }) =>
    listOf((await invitationsTo(store.global, tenant.workspaceId, clock.nowMs())).map(invitationBody), query),
})

const withdraw = defineRoute({
  method: 'DELETE',
  path: '/workspaces/{workspace_id}/invitations/{invitation_id}',
  auth: 'jwt',
  role: 'admin',
  workspace: 'path',
  params: {
    workspace_id,
    invitation_id: {
      description: 'The invitation.',
      notFound: 'invitation_not_found',
      example: invitationExample.invitation_id,
    },
  },
  success: { status: 200, schema: Detail },
  tag,
  summary: 'Take an invitation or a link back',
  examples: { success: { detail: 'Invitation withdrawn' } },
  handler: async ({ params, tenant }, { store }) => {
    if (!(await withdrawInvitation(store.global, tenant.workspaceId, params.invitation_id))) {
      throw new PatchbayError('invitation_not_found')
    }
    return { detail: 'Invitation withdrawn' }
  },
})

const changeOne = defineRoute({
  method: 'PATCH',
  path: '/workspaces/{workspace_id}/members/{user_id}',
  auth: 'jwt',
  role: 'admin',
  audit: ['role'],
  workspace: 'path',
  params: { workspace_id, user_id: { description: 'The member.', notFound: 'member_not_found' } },
  body: RoleInput,
  success: { status: 200, schema: Detail },
  errors: ['last_admin'],
  tag,
  summary: 'Give a member another role',
  examples: { body: { role: 'developer' }, success: { detail: 'Role changed' } },
  handler: async ({ params, body, tenant }, { store }) => {
    await changeRole(store.global, tenant.workspaceId, params.user_id, body.role)
    return { detail: 'Role changed' }
  },
})

const leave = defineRoute({
  method: 'POST',
  path: '/workspaces/{workspace_id}/leave',
  auth: 'jwt',
  role: 'member',
  whenSuspended: 'served',
  workspace: 'path',
  params: { workspace_id },
  success: { status: 200, schema: Detail },
  errors: ['last_admin', 'member_not_found'],
  tag,
  summary: 'Leave a workspace',
  examples: { success: { detail: 'Workspace left' } },
  handler: async ({ user, tenant }, { store }) => {
    await removeMember(store.global, tenant.workspaceId, user.id)
    return { detail: 'Workspace left' }
  },
})

const readRetention = defineRoute({
  method: 'GET',
  path: '/workspaces/{workspace_id}/retention',
  auth: 'jwt',
  role: 'member',
  workspace: 'path',
  params: { workspace_id },
  success: { status: 200, schema: RetentionBody },
  tag,
  summary: 'How long things are kept',
  examples: { success: retentionExample },
  handler: async ({ tenant }, { store }) => retentionOf(store, tenant.workspaceId),
})

const changeRetention = defineRoute({
  method: 'PATCH',
  path: '/workspaces/{workspace_id}/retention',
  auth: 'jwt',
  role: 'admin',
  audit: Object.keys(RetentionInput.properties),
  workspace: 'path',
  params: { workspace_id },
  body: RetentionInput,
  success: { status: 200, schema: RetentionBody },
  tag,
  summary: 'Choose how long things are kept; fields that are left out keep their values',
  description: 'What is older is removed within a few hours, for good.',
  examples: { body: { recordings_days: 30 }, success: retentionExample },
  handler: async ({ tenant, body }, { store }) => {
    const given = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined))
    await setRetention(store, tenant.workspaceId, given)
    return retentionOf(store, tenant.workspaceId)
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

export const workspaceRoutes = [
  create,
  list,
  change,
  limit,
  members,
  invite,
  inviteByLink,
  invitations,
  withdraw,
  changeOne,
  removeOne,
  leave,
  readRetention,
  changeRetention,
  remove,
]

import { Type } from 'typebox'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { buildInfo } from '../../runtime/process/build-info.ts'
import {
  type ListedWorkspace,
  listUsers,
  listWorkspaces,
  setOperator,
  setSignup,
  setSuspension,
  signupSetting,
  workspaceById,
} from '../../store/accounts/instance.ts'
import { SECURITY_EVENTS, securityPage } from '../../store/accounts/security-log.ts'
import { userById } from '../../store/accounts/users.ts'
import { requestHangup } from '../../store/redis/hangup.ts'
import { requestReload } from '../../store/redis/reload.ts'
import { listWorkers } from '../../store/redis/slots.ts'
import { requestWorkerDrain } from '../../store/redis/worker-drain.ts'
import { openCallsOf } from '../../store/workspaces/workspace-deletion.ts'
import { operatorQuotas, setOperatorQuotas, useOf } from '../../store/workspaces/workspace-quotas.ts'
import { mailInvitation, oneTimeLink } from '../auth/links.ts'
import { LANGUAGE_HEADER } from '../auth/mail-language.ts'
import { effectiveSignup } from '../auth/signup-policy.ts'
import { CursorPage, CursorQuery, cursorOf, cursorPageOf, lastOf, partOf } from '../cursor.ts'
import { Workload } from '../reports/schema.ts'
import { workloadExample } from '../reports/workload.ts'
import { defineRoute } from '../route.ts'
import type { Services } from '../services.ts'
import { Detail } from '../workspaces/schema.ts'
import {
  LinkBody,
  linkExample,
  OperatedUserBody,
  OperatedWorkspaceBody,
  operatedUserBody,
  operatedWorkspaceBody,
  operatorUserExample,
  operatorWorkspaceExample,
  QuotasInput,
  ReloadBody,
  SecurityBody,
  SettingsBody,
  SettingsInput,
  SignupInvitationInput,
  SuspendInput,
  SuspensionBody,
  securityBody,
  securityExample,
  UserRightsInput,
} from './schema.ts'

const tag = 'Operator'
const common = { auth: 'jwt', role: 'operator', tag } as const

const workspace_id = {
  description: 'The workspace.',
  notFound: 'workspace_not_found',
  example: operatorWorkspaceExample.workspace_id,
} as const
const user_id = {
  description: 'The user.',
  notFound: 'member_not_found',
  example: operatorUserExample.user_id,
} as const

const settingsExample = {
  signup: null,
  effective_signup: 'local',
  mail: false,
  version: '0.1.0',
  commit: '5f2c09d1e7ab',
}

const settings = defineRoute({
  ...common,
  method: 'GET',
  path: '/operator/settings',
  success: { status: 200, schema: SettingsBody },
  summary: 'Settings of the installation',
  examples: { success: settingsExample },
  handler: (_, services) => settingsBody(services),
})

const changeSettings = defineRoute({
  ...common,
  method: 'PATCH',
  path: '/operator/settings',
  audit: ['signup'],
  body: SettingsInput,
  success: { status: 200, schema: SettingsBody },
  summary: 'Choose who may sign up',
  examples: {
    body: { signup: 'open' },
    success: { ...settingsExample, signup: 'open', effective_signup: 'open' },
  },
  handler: async ({ body }, services) => {
    await setSignup(services.store, body.signup)
    return settingsBody(services)
  },
})

const reload = defineRoute({
  ...common,
  method: 'POST',
  path: '/operator/reload',
  success: { status: 200, schema: ReloadBody },
  errors: ['settings_unusable'],
  summary: 'Read settings anew without a restart: log level, capacity, prices, calling rules',
  description:
    'Each process reads its own file of variables, and the files of prices and calling rules. This node goes first: a fault of its settings changes nothing anywhere. Faults of other processes are in their logs; they go on with what they had.',
  examples: {
    success: { detail: 'Settings reloaded', changed: ['PATCHBAY_LOG_LEVEL'], needs_restart: [], processes: 3 },
  },
  handler: async ({ user }, { reloads, redis }) => {
    const found = await reloads.reload(`the operator ${user.email}`).catch((cause: unknown) => {
      if (!(cause instanceof PatchbayError) || cause.code !== 'configuration') throw cause
      throw new PatchbayError('settings_unusable', { params: { reason: cause.message }, cause })
    })
    const processes = await requestReload(redis)
    const { changed, needsRestart } = found
    return { detail: 'Settings reloaded', changed: [...changed], needs_restart: [...needsRestart], processes }
  },
})

const workspaces = defineRoute({
  ...common,
  method: 'GET',
  path: '/operator/workspaces',
  query: Type.Object(CursorQuery),
  success: { status: 200, schema: CursorPage(OperatedWorkspaceBody) },
  summary: 'Every workspace, what it uses and what it may use',
  examples: { success: { items: [operatorWorkspaceExample], total: 1, page: 1, page_size: 25, total_pages: 1 } },
  handler: async ({ query }, services) => {
    const { workspaces, total } = await listWorkspaces(services.store, partOf(query, cursorOf(query)))
    const items = await Promise.all(workspaces.map((row) => withUse(row, services)))
    return cursorPageOf(items, total, query, lastOf(workspaces))
  },
})

const workspace = defineRoute({
  ...common,
  method: 'GET',
  path: '/operator/workspaces/{workspace_id}',
  params: { workspace_id },
  success: { status: 200, schema: OperatedWorkspaceBody },
  summary: 'One workspace, what it uses and what it may use',
  examples: { success: operatorWorkspaceExample },
  handler: async ({ params }, services) => withUse(await requireWorkspace(params.workspace_id, services), services),
})

const changeWorkspace = defineRoute({
  ...common,
  method: 'PATCH',
  path: '/operator/workspaces/{workspace_id}',
  audit: Object.keys(QuotasInput.properties),
  params: { workspace_id },
  body: QuotasInput,
  success: { status: 200, schema: OperatedWorkspaceBody },
  summary: 'Set quotas of a workspace; fields that are left out keep their values',
  description:
    'They count at once, also for calls that wait. The lower of a quota and the workspace’s own limit counts.',
  examples: { body: { calls_at_once: 10, purchases: false }, success: operatorWorkspaceExample },
  handler: async ({ params, body }, services) => {
    const row = await requireWorkspace(params.workspace_id, services)
    const given = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined))
    await setOperatorQuotas(services.store, row.id, given)
    if (body.own_keys !== undefined) await services.providerKeys.changed()
    return withUse(row, services)
  },
})

const suspend = defineRoute({
  ...common,
  method: 'POST',
  path: '/operator/workspaces/{workspace_id}/suspend',
  audit: ['reason', 'end_calls'],
  params: { workspace_id },
  body: SuspendInput,
  success: { status: 200, schema: SuspensionBody },
  summary: 'Suspend a workspace: it starts no call, its keys get 403, its members only read',
  examples: {
    body: { reason: 'Unpaid invoice', end_calls: true },
    success: { detail: 'Workspace suspended', calls_ended: 2 },
  },
  handler: async ({ params, body }, { store, redis }) => {
    if (!(await setSuspension(store, params.workspace_id, body.reason))) throw new PatchbayError('workspace_not_found')
    const calls = body.end_calls ? await openCallsOf(store, params.workspace_id) : []
    for (const callId of calls) await requestHangup(redis, callId)
    return { detail: 'Workspace suspended', calls_ended: calls.length }
  },
})

const resume = defineRoute({
  ...common,
  method: 'POST',
  path: '/operator/workspaces/{workspace_id}/resume',
  params: { workspace_id },
  success: { status: 200, schema: Detail },
  summary: 'End a suspension',
  examples: { success: { detail: 'Workspace resumed' } },
  handler: async ({ params }, { store }) => {
    if (!(await setSuspension(store, params.workspace_id, null))) throw new PatchbayError('workspace_not_found')
    return { detail: 'Workspace resumed' }
  },
})

const users = defineRoute({
  ...common,
  method: 'GET',
  path: '/operator/users',
  query: Type.Object({
    ...CursorQuery,
    email: Type.Optional(Type.String({ maxLength: 254, description: 'Only the user of this address.' })),
  }),
  success: { status: 200, schema: CursorPage(OperatedUserBody) },
  summary: 'Every user',
  examples: { success: { items: [operatorUserExample], total: 1, page: 1, page_size: 25, total_pages: 1 } },
  handler: async ({ query }, { store, operators }) => {
    const { users, total } = await listUsers(store, { email: query.email }, partOf(query, cursorOf(query)))
    const items = users.map((user) => operatedUserBody(user, operators.includes(user)))
    return cursorPageOf(items, total, query, lastOf(users))
  },
})

const changeUser = defineRoute({
  ...common,
  method: 'PATCH',
  path: '/operator/users/{user_id}',
  audit: ['is_operator'],
  params: { user_id },
  body: UserRightsInput,
  success: { status: 200, schema: OperatedUserBody },
  summary: 'Make a user an operator, or take that back',
  description: 'A user that `PATCHBAY_OPERATORS` names stays an operator.',
  examples: { body: { is_operator: true }, success: { ...operatorUserExample, is_operator: true } },
  handler: async ({ params, body }, { store, operators }) => {
    const user = await setOperator(store, params.user_id, body.is_operator)
    if (user === undefined) throw new PatchbayError('member_not_found')
    return operatedUserBody(user, operators.includes(user))
  },
})

const resetPassword = defineRoute({
  ...common,
  method: 'POST',
  path: '/operator/users/{user_id}/password-reset',
  params: { user_id },
  success: { status: 201, schema: LinkBody },
  summary: 'Make a link by which a user chooses a new password',
  description: 'For installations without a mail server. The link works once, within an hour.',
  examples: { success: linkExample },
  handler: async ({ params, user }, services) => {
    const found = await userById(services.store.global, params.user_id)
    if (found === undefined) throw new PatchbayError('member_not_found')
    const link = { kind: 'password_reset', userId: found.id, email: found.email, createdBy: user.id } as const
    return oneTimeLink(services, link)
  },
})

const inviteUser = defineRoute({
  ...common,
  method: 'POST',
  path: '/operator/invitations',
  audit: ['email'],
  body: SignupInvitationInput,
  success: { status: 201, schema: LinkBody },
  summary: 'Make a link by which somebody signs up, also while signup is closed',
  description: 'Works once, within a week, with this address alone. Where a mail server is set it is mailed, too.',
  examples: { body: { email: 'grace@example.com' }, success: linkExample },
  headers: [LANGUAGE_HEADER],
  handler: async (request, services) => {
    const { email } = request.body
    const link = await oneTimeLink(services, { kind: 'signup', userId: null, email, createdBy: request.user.id })
    await mailInvitation(request, services, { email, to: 'installation', link: link.link })
    return link
  },
})

const workers = defineRoute({
  ...common,
  method: 'GET',
  path: '/operator/workers',
  success: { status: 200, schema: Workload },
  summary: 'The voice workers and their load',
  examples: { success: workloadExample },
  handler: (_, { workload }) => workload({ hidesHosts: false }),
})

const drainWorker = defineRoute({
  ...common,
  method: 'POST',
  path: '/operator/workers/{worker_id}/drain',
  params: { worker_id: { description: 'The worker, as the list names it.', example: 'host-4711-5f2c09d1e7ab' } },
  success: { status: 200, schema: Detail },
  errors: ['worker_not_found'],
  summary: 'Have a voice worker take no new call and end with its last',
  description:
    'It is `draining` from then on, and gone from the list once it has ended; calls that outlast `PATCHBAY_DRAIN_MS` go on at another worker. Whatever keeps it running (`npm start`, systemd, Kubernetes) starts a fresh one in its place: it is restarted, and no seat is lost for good. To have fewer workers, change their number there.',
  examples: { success: { detail: 'Voice worker drains' } },
  handler: async ({ params }, { redis, sessions }) => {
    if (!sessions.drainWorker(params.worker_id)) {
      const known = await listWorkers(redis)
      if (!known.some(({ workerId }) => workerId === params.worker_id)) throw new PatchbayError('worker_not_found')
      await requestWorkerDrain(redis, params.worker_id)
    }
    return { detail: 'Voice worker drains' }
  },
})

const securityLog = defineRoute({
  ...common,
  method: 'GET',
  path: '/operator/security-log',
  query: Type.Object({
    ...CursorQuery,
    kind: Type.Optional(Type.Enum([...SECURITY_EVENTS], { description: 'Only entries of this kind.' })),
    user_id: Type.Optional(Type.String({ format: 'uuid', description: 'Only entries of this user.' })),
    address: Type.Optional(Type.String({ maxLength: 100, description: 'Only what came from this IP address.' })),
  }),
  success: { status: 200, schema: CursorPage(SecurityBody) },
  summary: 'Logins, refused ones, links, sessions and keys, newest first',
  description:
    'Kept for a year; nobody can change it. Of what strangers cause without an account a node writes 300 events a minute; `events_left_out` says how many more there were.',
  examples: { success: { items: [securityExample], total: 1, page: 1, page_size: 25, total_pages: 1 } },
  handler: async ({ query }, { store }) => {
    const { kind, user_id, address } = query
    const filter = { kind, userId: user_id, address }
    const { rows, total } = await securityPage(store, filter, partOf(query, cursorOf(query)))
    return cursorPageOf(rows.map(securityBody), total, query, lastOf(rows))
  },
})

export const operatorRoutes = [
  settings,
  changeSettings,
  reload,
  workspaces,
  workspace,
  changeWorkspace,
  suspend,
  resume,
  users,
  changeUser,
  resetPassword,
  inviteUser,
  workers,
  drainWorker,
  securityLog,
]

async function settingsBody(services: Services) {
  const { store, mailer } = services
  return {
    signup: await signupSetting(store),
    effective_signup: await effectiveSignup(services),
    mail: mailer !== undefined,
    ...buildInfo(),
  }
}

async function requireWorkspace(id: string, { store }: Services): Promise<ListedWorkspace> {
  const row = await workspaceById(store, id)
  if (row === undefined) throw new PatchbayError('workspace_not_found')
  return row
}

async function withUse(row: ListedWorkspace, { store }: Services) {
  const [use, quotas] = await Promise.all([useOf(store, row.id), operatorQuotas(store, row.id)])
  return operatedWorkspaceBody(row, use, quotas)
}

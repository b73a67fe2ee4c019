import { uuidv7 } from 'uuidv7'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { hasAgent } from '../../store/agents/agents.ts'
import { isDuplicate } from '../../store/database/database.ts'
import type { ExtensionRow } from '../../store/database/schema.ts'
import type { Tenant } from '../../store/database/tenant.ts'
import {
  countExtensions,
  deleteExtension,
  extensionById,
  insertExtension,
  listExtensions,
  updateExtension,
} from '../../store/telephony/extensions.ts'
import { isUuid } from '../ids.ts'
import { ListOf, ListQuery, listOf } from '../paging.ts'
import { defineRoute } from '../route.ts'
import { Detail } from '../workspaces/schema.ts'
import {
  ChangeExtensionInput,
  CreateExtensionInput,
  ExtensionBody,
  extensionBody,
  extensionExample,
  NewExtensionBody,
} from './schema.ts'

const tag = 'Extensions'

/** Every node keeps them all. */
const MAX_EXTENSIONS = 1_000

const extension_id = {
  description: 'The extension.',
  notFound: 'extension_not_found',
  example: extensionExample.extension_id,
} as const
const shownOnce = { ...extensionExample, phones: [], password: 'rN3kq0vVnS5c2s0mJ9bY' }

const create = defineRoute({
  method: 'POST',
  path: '/extensions',
  auth: 'jwt_or_scope',
  role: 'developer',
  scope: 'numbers',
  body: CreateExtensionInput,
  success: { status: 201, schema: NewExtensionBody },
  errors: ['extension_taken', 'too_many_extensions', 'agent_not_found'],
  tag,
  summary: 'Add an extension: a softphone that registers with Patchbay',
  description:
    'The phone logs in with `username` and `password`, which is shown this once. Agents transfer callers to it by its name; it calls agents by their numbers, and other extensions.',
  examples: { body: { name: '204', display_name: 'Front desk' }, success: shownOnce },
  handler: async ({ body, tenant }, { trunks: { extensions } }) => {
    const agent_id = await requireAgent(tenant, body.agent_id ?? null)
    if ((await countExtensions(tenant)) >= MAX_EXTENSIONS) throw new PatchbayError('too_many_extensions')
    const id = uuidv7()
    const password = extensions.newPassword()
    const row = await taken(() =>
      insertExtension(tenant, {
        ...{ id, name: body.name, display_name: body.display_name ?? null, agent_id },
        username: extensions.newUsername(body.name.replace(/[*#]/g, '')),
        password: extensions.sealPassword(id, password),
      }),
    )
    await extensions.changed()
    return { ...extensionBody(row, []), password }
  },
})

const list = defineRoute({
  method: 'GET',
  path: '/extensions',
  auth: 'jwt_or_scope',
  role: 'member',
  scope: 'numbers',
  query: ListQuery,
  success: { status: 200, schema: ListOf(ExtensionBody) },
  tag,
  summary: 'The extensions of the workspace, and which phones are registered',
  examples: { success: [extensionExample] },
  handler: async ({ tenant, query }, { trunks: { extensions } }) => {
    const rows = await listExtensions(tenant)
    const bodies = rows.map(async (row) => extensionBody(row, await extensions.bindings(row.id)))
    return listOf(await Promise.all(bodies), query)
  },
})

const read = defineRoute({
  method: 'GET',
  path: '/extensions/{extension_id}',
  auth: 'jwt_or_scope',
  role: 'member',
  scope: 'numbers',
  params: { extension_id },
  success: { status: 200, schema: ExtensionBody },
  errors: ['extension_not_found'],
  tag,
  summary: 'One extension',
  examples: { success: extensionExample },
  handler: async ({ params, tenant }, { trunks: { extensions } }) => {
    const row = await requireExtension(tenant, params.extension_id)
    return extensionBody(row, await extensions.bindings(row.id))
  },
})

const change = defineRoute({
  method: 'PATCH',
  path: '/extensions/{extension_id}',
  auth: 'jwt_or_scope',
  role: 'developer',
  scope: 'numbers',
  params: { extension_id },
  body: ChangeExtensionInput,
  success: { status: 200, schema: ExtensionBody },
  errors: ['extension_not_found', 'agent_not_found'],
  tag,
  summary: 'Change an extension; fields that are left out keep their values',
  examples: { body: { display_name: 'Night desk' }, success: { ...extensionExample, display_name: 'Night desk' } },
  handler: async ({ params, body, tenant }, { trunks: { extensions } }) => {
    const { id } = await requireExtension(tenant, params.extension_id)
    const { display_name, agent_id } = body
    const row = await updateExtension(tenant, id, {
      ...(display_name === undefined ? {} : { display_name }),
      ...(agent_id === undefined ? {} : { agent_id: await requireAgent(tenant, agent_id) }),
    })
    if (row === undefined) throw new PatchbayError('extension_not_found')
    await extensions.changed()
    return extensionBody(row, await extensions.bindings(id))
  },
})

const rotate = defineRoute({
  method: 'POST',
  path: '/extensions/{extension_id}/password',
  auth: 'jwt_or_scope',
  role: 'developer',
  scope: 'numbers',
  params: { extension_id },
  success: { status: 200, schema: NewExtensionBody },
  errors: ['extension_not_found'],
  tag,
  summary: 'Give an extension a new password; its phones have to log in anew',
  examples: { success: shownOnce },
  handler: async ({ params, tenant }, { trunks: { extensions } }) => {
    const { id } = await requireExtension(tenant, params.extension_id)
    const password = extensions.newPassword()
    const row = await updateExtension(tenant, id, { password: extensions.sealPassword(id, password) })
    if (row === undefined) throw new PatchbayError('extension_not_found')
    await extensions.changed()
    return { ...extensionBody(row, []), password }
  },
})

const remove = defineRoute({
  method: 'DELETE',
  path: '/extensions/{extension_id}',
  auth: 'jwt_or_scope',
  role: 'developer',
  scope: 'numbers',
  params: { extension_id },
  success: { status: 200, schema: Detail },
  errors: ['extension_not_found'],
  tag,
  summary: 'Remove an extension',
  examples: { success: { detail: 'Extension deleted' } },
  handler: async ({ params, tenant }, { trunks: { extensions } }) => {
    const { id } = await requireExtension(tenant, params.extension_id)
    if (!(await deleteExtension(tenant, id))) throw new PatchbayError('extension_not_found')
    await extensions.changed()
    return { detail: 'Extension deleted' }
  },
})

export const extensionRoutes = [create, list, read, change, rotate, remove]

async function requireExtension(tenant: Tenant, id: string): Promise<ExtensionRow> {
  const row = await extensionById(tenant, id)
  if (row === undefined) throw new PatchbayError('extension_not_found')
  return row
}

async function requireAgent(tenant: Tenant, id: string | null): Promise<string | null> {
  if (id === null) return null
  if (!(isUuid(id) && (await hasAgent(tenant, id)))) throw new PatchbayError('agent_not_found')
  return id
}

async function taken<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (error) {
    throw isDuplicate(error) ? new PatchbayError('extension_taken') : error
  }
}

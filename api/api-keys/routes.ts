import { randomBytes } from 'node:crypto'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { deleteApiKey, insertApiKey, listApiKeys, replaceApiKey } from '../../store/accounts/api-keys.ts'
import type { User } from '../../store/database/schema.ts'
import type { Tenant } from '../../store/database/tenant.ts'
import { workspaceName } from '../../store/workspaces/workspaces.ts'
import { hashApiKey } from '../auth/authenticate.ts'
import { ListOf, ListQuery, listOf } from '../paging.ts'
import { defineRoute } from '../route.ts'
import { parseInstant, ValidationError } from '../schema.ts'
import { Detail } from '../workspaces/schema.ts'
import {
  CreateApiKeyInput,
  CreatedApiKeyBody,
  CurrentKeyBody,
  createdApiKeyBody,
  ListedApiKeyBody,
  listedApiKeyBody,
  RotateApiKeyInput,
} from './schema.ts'

const tag = 'API keys'
const PREFIX_LENGTH = 11

const example = {
  id: '0197f3a2-7c1e-7000-8000-000000000005',
  name: 'CRM',
  prefix: 'pb_Qm9vbGVh',
  scopes: ['read', 'calls'],
  created_at: '2026-01-31T09:00:00.000Z',
  expires_at: null,
}

const exampleKey = 'pb_Qm9vbGVhbiBsb2dpYyBpcyBhbGdlYnJhIG9mIHR3byB2YWx1ZXM'

const create = defineRoute({
  method: 'POST',
  path: '/api-keys',
  audit: ['name'],
  auth: 'jwt',
  role: 'admin',
  body: CreateApiKeyInput,
  success: { status: 201, schema: CreatedApiKeyBody },
  tag,
  summary: 'Make an API key of the workspace',
  description:
    'The key acts as Developer, within its scopes. Where a scope is missing the answer is 401 and the header `x-required-scope` names it. Only the SHA-256 of a key is kept.',
  examples: {
    body: { name: 'CRM', scopes: ['read', 'calls', 'batches'] },
    success: { ...example, scopes: ['read', 'calls', 'batches'], key: exampleKey },
  },
  handler: async (request, { clock, security }) => {
    const { body, tenant, user } = request
    const { key, ...secret } = newKey()
    const expiresAt = body.expires_at == null ? null : (parseInstant(body.expires_at) ?? null)
    if (expiresAt !== null && expiresAt.getTime() <= clock.nowMs()) {
      throw new ValidationError([{ loc: ['body', 'expires_at'], msg: 'is in the past', type: 'value_error' }])
    }
    const scopes = [...new Set(body.scopes)]
    const row = await insertApiKey(tenant, { ...secret, name: body.name, scopes, expiresAt, createdBy: user.id })
    await security.note(request, keyEvent('key_created', request, row.id))
    return createdApiKeyBody(row, key)
  },
})

const rotate = defineRoute({
  method: 'POST',
  path: '/api-keys/{id}/rotate',
  auth: 'jwt',
  role: 'admin',
  params: { id: { description: 'The key.', notFound: 'api_key_not_found', example: example.id } },
  body: RotateApiKeyInput,
  success: { status: 201, schema: CreatedApiKeyBody },
  errors: ['api_key_not_found'],
  tag,
  summary: 'Make a new key in the place of one that goes out of use',
  description: 'It has the same name, scopes and expiry. The old key works for `grace_s` seconds more.',
  examples: { body: { grace_s: 3600 }, success: { ...example, key: exampleKey } },
  handler: async (request, { clock, security }) => {
    const { params, body, tenant, user } = request
    const { key, ...secret } = newKey()
    const until = new Date(clock.nowMs() + body.grace_s * 1000)
    const row = await replaceApiKey(tenant, params.id, { ...secret, createdBy: user.id }, until)
    if (row === undefined) throw new PatchbayError('api_key_not_found')
    await security.note(request, keyEvent('key_rotated', request, row.id))
    return createdApiKeyBody(row, key)
  },
})

function keyEvent(
  kind: 'key_created' | 'key_rotated' | 'key_revoked',
  { user, tenant }: { user: User; tenant: Tenant },
  keyId: string,
) {
  return { kind, userId: user.id, account: user.email, workspaceId: tenant.workspaceId, detail: { key_id: keyId } }
}

function newKey(): { key: string; prefix: string; hash: Buffer } {
  const key = `pb_${randomBytes(32).toString('base64url')}`
  return { key, prefix: key.slice(0, PREFIX_LENGTH), hash: hashApiKey(key) }
}

const list = defineRoute({
  method: 'GET',
  path: '/api-keys',
  auth: 'jwt',
  role: 'admin',
  query: ListQuery,
  success: { status: 200, schema: ListOf(ListedApiKeyBody) },
  tag,
  summary: 'The API keys of the workspace',
  examples: { success: [{ ...example, created_by: null, last_used_at: null }] },
  handler: async ({ tenant, query }) => listOf((await listApiKeys(tenant)).map(listedApiKeyBody), query),
})

const current = defineRoute({
  method: 'GET',
  path: '/api-keys/current',
  auth: 'jwt_or_key',
  anyScope: true,
  role: 'member',
  success: { status: 200, schema: CurrentKeyBody },
  errors: ['api_key_not_found'],
  tag,
  summary: 'The key that asks: what it may do, where and until when',
  description:
    'A test of the connection, whatever the scopes of the key. Asked with the cookie there is no such key: 404.',
  examples: { success: { ...example, workspace_id: '0197f3a2-7c1e-7000-8000-000000000002', workspace_name: 'Sales' } },
  handler: async ({ tenant, key }, { store }) => {
    const found = (await listApiKeys(tenant)).find(({ id }) => id === key?.id)
    if (found === undefined) throw new PatchbayError('api_key_not_found')
    const name = await workspaceName(store.global, tenant.workspaceId)
    const { last_used_at: _, created_by: __, ...body } = listedApiKeyBody(found)
    return { ...body, workspace_id: tenant.workspaceId, workspace_name: name ?? '' }
  },
})

const remove = defineRoute({
  method: 'DELETE',
  path: '/api-keys/{id}',
  auth: 'jwt',
  role: 'admin',
  params: { id: { description: 'The key.', notFound: 'api_key_not_found', example: example.id } },
  success: { status: 200, schema: Detail },
  errors: ['api_key_not_found'],
  tag,
  summary: 'Delete an API key; it stops working at once',
  examples: { success: { detail: 'API key deleted' } },
  handler: async (request, { security }) => {
    const { params, tenant } = request
    if (!(await deleteApiKey(tenant, params.id))) throw new PatchbayError('api_key_not_found')
    await security.note(request, keyEvent('key_revoked', request, params.id))
    return { detail: 'API key deleted' }
  },
})

export const apiKeyRoutes = [current, create, list, rotate, remove]

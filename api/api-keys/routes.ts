import { randomBytes } from 'node:crypto'
import { PatchbayError } from '../../runtime/errors.ts'
import { deleteApiKey, insertApiKey, listApiKeys } from '../../store/api-keys.ts'
import { hashApiKey } from '../auth/authenticate.ts'
import { ListOf, ListQuery, listOf } from '../paging.ts'
import { defineRoute } from '../route.ts'
import { Detail } from '../workspaces/schema.ts'
import { CreateApiKeyInput, CreatedApiKeyBody, ListedApiKeyBody, listedApiKeyBody } from './schema.ts'

const tag = 'API keys'
const PREFIX_LENGTH = 11

const example = {
  id: '0197f3a2-7c1e-7000-8000-000000000005',
  name: 'CRM',
  prefix: 'pb_Qm9vbGVh',
  created_at: '2026-01-31T09:00:00.000Z',
}

const create = defineRoute({
  method: 'POST',
  path: '/api-keys',
  auth: 'jwt',
  role: 'admin',
  body: CreateApiKeyInput,
  success: { status: 201, schema: CreatedApiKeyBody },
  tag,
  summary: 'Make an API key of the workspace',
  description: 'The key acts as Developer. Only its SHA-256 is kept.',
  examples: {
    body: { name: 'CRM' },
    success: { ...example, key: 'pb_Qm9vbGVhbiBsb2dpYyBpcyBhbGdlYnJhIG9mIHR3byB2YWx1ZXM' },
  },
  handler: async ({ body, tenant }) => {
    const key = `pb_${randomBytes(32).toString('base64url')}`
    const row = await insertApiKey(tenant, {
      name: body.name,
      prefix: key.slice(0, PREFIX_LENGTH),
      hash: hashApiKey(key),
    })
    return { id: row.id, name: row.name, prefix: row.prefix, key, created_at: row.created_at.toISOString() }
  },
})

const list = defineRoute({
  method: 'GET',
  path: '/api-keys',
  auth: 'jwt',
  role: 'admin',
  query: ListQuery,
  success: { status: 200, schema: ListOf(ListedApiKeyBody) },
  tag,
  summary: 'The API keys of the workspace',
  examples: { success: [{ ...example, last_used_at: null }] },
  handler: async ({ tenant, query }) => listOf((await listApiKeys(tenant)).map(listedApiKeyBody), query),
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
  handler: async ({ params, tenant }) => {
    if (!(await deleteApiKey(tenant, params.id))) throw new PatchbayError('api_key_not_found')
    return { detail: 'API key deleted' }
  },
})

export const apiKeyRoutes = [create, list, remove]

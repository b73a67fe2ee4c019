import { Type } from 'typebox'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { newWebhookSecret, webhookSecrets } from '../../runtime/webhooks/signature.ts'
import { hasAgent } from '../../store/agents/agents.ts'
import type { Webhook } from '../../store/database/schema.ts'
import type { Tenant } from '../../store/database/tenant.ts'
import { deliveriesPage, recoverDeliveries, redeliver, testDelivery } from '../../store/events/webhook-deliveries.ts'
import {
  changeWebhook,
  deleteWebhook,
  insertWebhook,
  listWebhooks,
  rotateSecret,
  webhookById,
} from '../../store/events/webhooks.ts'
import { eventsById } from '../../store/events/workspace-events.ts'
import { eventMessage } from '../../workers/webhooks/event-data.ts'
import { CursorPage, cursorOf, cursorPageOf, lastOf, partOf } from '../cursor.ts'
import { eventData } from '../events/data.ts'
import { isUuid } from '../ids.ts'
import { ListOf, ListQuery, listOf } from '../paging.ts'
import { defineRoute } from '../route.ts'
import { parseInstant } from '../schema.ts'
import { Detail } from '../workspaces/schema.ts'
import {
  ChangeWebhookInput,
  CreateWebhookInput,
  DeliveriesQuery,
  DeliveryBody,
  deliveryBody,
  deliveryExample,
  RecoverInput,
  refuseBadWebhook,
  secretExample,
  WebhookBody,
  WebhookWithSecretBody,
  webhookBody,
  webhookExample,
} from './schema.ts'

const tag = 'Webhooks'
const MAX_WEBHOOKS = 500
const BOTH_VALID_MS = 24 * 3_600_000

const webhook_id = {
  description: 'The webhook.',
  notFound: 'webhook_not_found',
  example: webhookExample.webhook_id,
} as const
const delivery_id = {
  description: 'The delivery.',
  notFound: 'delivery_not_found',
  example: deliveryExample.delivery_id,
} as const

const create = defineRoute({
  method: 'POST',
  path: '/webhooks',
  auth: 'jwt_or_scope',
  scope: 'webhooks',
  role: 'admin',
  audit: ['url', 'types'],
  body: CreateWebhookInput,
  success: { status: 201, schema: WebhookWithSecretBody },
  errors: ['agent_not_found', 'quota_reached'],
  tag,
  summary: 'Have events sent to an address',
  description:
    'Each is a POST signed by Standard Webhooks; any 2xx within ten seconds takes it. Else it is tried ten times over about 75 hours. The types are listed under `webhooks` of this document.',
  examples: {
    body: { url: webhookExample.url, types: webhookExample.types, description: 'CRM' },
    success: { ...webhookExample, secret: secretExample },
  },
  handler: async ({ body, tenant }, { config }) => {
    refuseBadWebhook(body)
    await requireAgent(tenant, body.agent_id)
    if ((await listWebhooks(tenant)).length >= MAX_WEBHOOKS) {
      throw new PatchbayError('quota_reached', { params: { quota: `${MAX_WEBHOOKS} webhooks` } })
    }
    const secret = newWebhookSecret()
    const { url, types, description = '', agent_id = null } = body
    const row = await insertWebhook(tenant, { url, types: [...new Set(types)], description, agent_id }, (id) =>
      webhookSecrets(config).seal(secret, id),
    )
    return { ...webhookBody(row), secret }
  },
})

const list = defineRoute({
  method: 'GET',
  path: '/webhooks',
  auth: 'jwt_or_scope',
  scope: 'webhooks',
  role: 'developer',
  query: ListQuery,
  success: { status: 200, schema: ListOf(WebhookBody) },
  tag,
  summary: 'The webhooks of the workspace',
  examples: { success: [webhookExample] },
  handler: async ({ tenant, query }) => listOf((await listWebhooks(tenant)).map(webhookBody), query),
})

const read = defineRoute({
  method: 'GET',
  path: '/webhooks/{webhook_id}',
  auth: 'jwt_or_scope',
  scope: 'webhooks',
  role: 'developer',
  params: { webhook_id },
  success: { status: 200, schema: WebhookBody },
  errors: ['webhook_not_found'],
  tag,
  summary: 'One webhook',
  examples: { success: webhookExample },
  handler: async ({ params, tenant }) => webhookBody(await requireWebhook(tenant, params.webhook_id)),
})

const change = defineRoute({
  method: 'PATCH',
  path: '/webhooks/{webhook_id}',
  auth: 'jwt_or_scope',
  scope: 'webhooks',
  role: 'admin',
  audit: ['url', 'types', 'enabled'],
  params: { webhook_id },
  body: ChangeWebhookInput,
  success: { status: 200, schema: WebhookBody },
  errors: ['webhook_not_found', 'agent_not_found'],
  tag,
  summary: 'Change a webhook, or switch it on or off',
  examples: { body: { enabled: true, types: ['call.*'] }, success: { ...webhookExample, types: ['call.*'] } },
  handler: async ({ params, body, tenant }) => {
    refuseBadWebhook(body)
    await requireAgent(tenant, body.agent_id)
    const row = await changeWebhook(tenant, params.webhook_id, body)
    if (row === undefined) throw new PatchbayError('webhook_not_found')
    return webhookBody(row)
  },
})

const remove = defineRoute({
  method: 'DELETE',
  path: '/webhooks/{webhook_id}',
  auth: 'jwt_or_scope',
  scope: 'webhooks',
  role: 'admin',
  params: { webhook_id },
  success: { status: 200, schema: Detail },
  errors: ['webhook_not_found'],
  tag,
  summary: 'Delete a webhook, with what it has not been sent',
  examples: { success: { detail: 'Webhook deleted' } },
  handler: async ({ params, tenant }) => {
    if (!(await deleteWebhook(tenant, params.webhook_id))) throw new PatchbayError('webhook_not_found')
    return { detail: 'Webhook deleted' }
  },
})

const rotate = defineRoute({
  method: 'POST',
  path: '/webhooks/{webhook_id}/rotate-secret',
  auth: 'jwt_or_scope',
  scope: 'webhooks',
  role: 'admin',
  params: { webhook_id },
  success: { status: 201, schema: WebhookWithSecretBody },
  errors: ['webhook_not_found'],
  tag,
  summary: 'Give a webhook a new secret',
  description: 'For 24 hours messages carry two signatures, of the new secret and of the one before.',
  examples: {
    success: { ...webhookExample, old_secret_until: '2026-02-01T09:00:00.000Z', secret: secretExample },
  },
  handler: async ({ params, tenant }, { config, clock }) => {
    const secret = newWebhookSecret()
    const sealed = webhookSecrets(config).seal(secret, params.webhook_id)
    const row = await rotateSecret(tenant, params.webhook_id, sealed, new Date(clock.nowMs() + BOTH_VALID_MS))
    if (row === undefined) throw new PatchbayError('webhook_not_found')
    return { ...webhookBody(row), secret }
  },
})

const test = defineRoute({
  method: 'POST',
  path: '/webhooks/{webhook_id}/test',
  auth: 'jwt_or_scope',
  scope: 'webhooks',
  role: 'admin',
  params: { webhook_id },
  success: { status: 201, schema: DeliveryBody },
  errors: ['webhook_not_found'],
  tag,
  summary: 'Send a webhook the event `webhook.test`',
  examples: {
    success: {
      ...deliveryExample,
      ...{ type: 'webhook.test', status: 'pending', attempts: 0, response: null, request: null },
      ...{ last_attempt_at: null, duration_ms: null, next_attempt_at: deliveryExample.created_at },
    },
  },
  handler: async ({ params, tenant }) => {
    const { id } = await requireWebhook(tenant, params.webhook_id)
    return deliveryBody(await testDelivery(tenant, id), null)
  },
})

const deliveries = defineRoute({
  method: 'GET',
  path: '/webhooks/{webhook_id}/deliveries',
  auth: 'jwt_or_scope',
  scope: 'webhooks',
  role: 'developer',
  params: { webhook_id },
  query: DeliveriesQuery,
  success: { status: 200, schema: CursorPage(DeliveryBody) },
  errors: ['webhook_not_found'],
  tag,
  summary: 'What a webhook was sent and what it answered, newest first',
  description: 'Kept 30 days.',
  examples: {
    query: { status: 'delivered', page: 1, page_size: 25 },
    success: { items: [deliveryExample], total: 1, page: 1, page_size: 25, total_pages: 1 },
  },
  handler: async ({ params, query, tenant }, { store, config }) => {
    const webhook = await requireWebhook(tenant, params.webhook_id)
    const found = await deliveriesPage(tenant, webhook.id, query.status, partOf(query, cursorOf(query)))
    const asked = found.deliveries.map(({ event_id, event_at }) => ({ id: event_id, at: event_at }))
    const events = [...(await eventsById(store, asked)).values()]
    const data = await eventData(store, config.publicUrl, events)
    const bodies = new Map(events.map((event, i) => [event.id, JSON.stringify(eventMessage(event, data[i] ?? {}))]))
    const items = found.deliveries.map((row) => {
      const body = bodies.get(row.event_id)
      return deliveryBody(row, body === undefined ? null : { url: webhook.url, body })
    })
    return cursorPageOf(items, found.total, query, lastOf(found.deliveries))
  },
})

const again = defineRoute({
  method: 'POST',
  path: '/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver',
  auth: 'jwt_or_scope',
  scope: 'webhooks',
  role: 'admin',
  params: { webhook_id, delivery_id },
  success: { status: 200, schema: DeliveryBody },
  errors: ['webhook_not_found', 'delivery_not_found'],
  tag,
  summary: 'Send an event again',
  description: 'Under the same `webhook-id`.',
  examples: {
    success: {
      ...deliveryExample,
      status: 'pending',
      attempts: 0,
      next_attempt_at: '2026-01-31T10:00:00.000Z',
      request: null,
    },
  },
  handler: async ({ params, tenant }) => {
    const { id } = await requireWebhook(tenant, params.webhook_id)
    const row = await redeliver(tenant, id, params.delivery_id)
    if (row === undefined) throw new PatchbayError('delivery_not_found')
    return deliveryBody(row, null)
  },
})

const recover = defineRoute({
  method: 'POST',
  path: '/webhooks/{webhook_id}/recover',
  auth: 'jwt_or_scope',
  scope: 'webhooks',
  role: 'admin',
  audit: ['since'],
  params: { webhook_id },
  body: RecoverInput,
  success: { status: 200, schema: Type.Object({ deliveries: Type.Integer() }) },
  errors: ['webhook_not_found'],
  tag,
  summary: 'Send a webhook what it missed since then',
  description:
    'Every event it asks for and has not taken: those that failed, and those of the time it was switched off or not there yet.',
  examples: { body: { since: '2026-01-30T00:00:00Z' }, success: { deliveries: 12 } },
  handler: async ({ params, body, tenant }, { clock }) => {
    const { id } = await requireWebhook(tenant, params.webhook_id)
    const since = parseInstant(body.since) ?? new Date(clock.nowMs())
    return { deliveries: await recoverDeliveries(tenant, id, since) }
  },
})

async function requireWebhook(tenant: Tenant, id: string): Promise<Webhook> {
  const row = await webhookById(tenant, id)
  if (row === undefined) throw new PatchbayError('webhook_not_found')
  return row
}

async function requireAgent(tenant: Tenant, id: string | null | undefined): Promise<void> {
  if (id == null) return
  if (!isUuid(id) || !(await hasAgent(tenant, id))) throw new PatchbayError('agent_not_found')
}

export const webhookRoutes = [create, list, read, change, remove, rotate, test, deliveries, again, recover]

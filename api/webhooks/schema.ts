import { type Static, Type } from 'typebox'
import type { Webhook, WebhookDelivery } from '../../store/database/schema.ts'
import { CursorQuery } from '../cursor.ts'
import { asksForEvents, EVENT_PATTERNS } from '../events/types.ts'
import { type Fault, Id, Instant, Nullable, OpenEnum, ValidationError } from '../schema.ts'

const Url = Type.String({ minLength: 1, maxLength: 2_000, description: 'http or https, without user and password.' })
const Types = Type.Array(Type.String({ maxLength: 64, 'x-extensible-enum': [...EVENT_PATTERNS] }), {
  minItems: 1,
  maxItems: 64,
  description: 'Types of events, a group of them (`call.*`), or all (`*`).',
})
const Description = Type.String({ maxLength: 500 })
const OfAgent = Nullable(Type.String({ maxLength: 100, description: 'Only events of this agent.' }))

export const CreateWebhookInput = Type.Object({
  url: Url,
  types: Types,
  description: Type.Optional({ ...Description, default: '' }),
  agent_id: Type.Optional(OfAgent),
})
export const ChangeWebhookInput = Type.Object({
  url: Type.Optional(Url),
  types: Type.Optional(Types),
  description: Type.Optional(Description),
  agent_id: Type.Optional(OfAgent),
  enabled: Type.Optional(Type.Boolean({ description: 'On again, it begins without its past failures.' })),
})
export const RecoverInput = Type.Object({
  since: Type.String({ format: 'date-time', description: 'At most 30 days ago.' }),
})

export const WebhookBody = Type.Object({
  webhook_id: Id,
  workspace_id: Id,
  url: Type.String(),
  types: Type.Array(OpenEnum(EVENT_PATTERNS)),
  description: Type.String(),
  agent_id: Nullable(Id),
  enabled: Type.Boolean(),
  disabled_reason: Nullable(Type.String()),
  disabled_at: Nullable(Instant),
  failing_since: Nullable({
    ...Instant,
    description: 'Since when every attempt failed; after five days it is switched off.',
  }),
  old_secret_until: Nullable({ ...Instant, description: 'Until then the secret before signs too.' }),
  created_at: Instant,
  updated_at: Instant,
})
export const WebhookWithSecretBody = Type.Object({
  ...WebhookBody.properties,
  secret: Type.String({ description: 'Shown this once. It verifies signatures.' }),
})

export const DeliveriesQuery = Type.Object({
  ...CursorQuery,
  status: Type.Optional(
    Type.Enum(['pending', 'delivered', 'failed'], { description: 'Only deliveries in this state.' }),
  ),
})

export const DeliveryBody = Type.Object({
  delivery_id: Id,
  webhook_id: Id,
  event_id: Id,
  type: Type.String(),
  status: Type.Enum(['pending', 'delivered', 'failed']),
  attempts: Type.Integer(),
  next_attempt_at: Nullable(Instant),
  last_attempt_at: Nullable(Instant),
  duration_ms: Nullable(Type.Integer({ description: 'Of the last attempt.' })),
  response: Nullable(
    Type.Object({ status: Type.Integer(), body: Type.String({ description: 'Its first 1,024 characters.' }) }),
  ),
  error: Nullable(Type.String({ description: 'Why the last attempt failed.' })),
  request: Nullable(
    Type.Object(
      { url: Type.String(), body: Type.String() },
      { description: 'What is sent; null: the event was erased, or is older than 30 days.' },
    ),
  ),
  created_at: Instant,
})

export function webhookBody(row: Webhook): Static<typeof WebhookBody> {
  return {
    webhook_id: row.id,
    workspace_id: row.workspace_id,
    url: row.url,
    types: row.types,
    description: row.description,
    agent_id: row.agent_id,
    enabled: row.enabled,
    disabled_reason: row.disabled_reason,
    disabled_at: row.disabled_at?.toISOString() ?? null,
    failing_since: row.failing_since?.toISOString() ?? null,
    old_secret_until: row.old_secret_until?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  }
}

export function deliveryBody(
  row: WebhookDelivery,
  request: { url: string; body: string } | null,
): Static<typeof DeliveryBody> {
  return {
    delivery_id: row.id,
    webhook_id: row.webhook_id,
    event_id: row.event_id,
    type: row.type,
    status: row.status,
    attempts: row.attempts,
    next_attempt_at: row.status === 'pending' ? row.next_attempt_at.toISOString() : null,
    last_attempt_at: row.last_attempt_at?.toISOString() ?? null,
    duration_ms: row.duration_ms,
    response: row.response_status === null ? null : { status: row.response_status, body: row.response_body ?? '' },
    error: row.error,
    request,
    created_at: row.created_at.toISOString(),
  }
}

export const webhookExample: Static<typeof WebhookBody> = {
  webhook_id: '0197f3a2-7c1e-7000-8000-00000000000c',
  workspace_id: '0197f3a2-7c1e-7000-8000-000000000002',
  url: 'https://example.com/patchbay',
  types: ['call.ended', 'recording.ready'],
  description: 'CRM',
  agent_id: null,
  enabled: true,
  disabled_reason: null,
  disabled_at: null,
  failing_since: null,
  old_secret_until: null,
  created_at: '2026-01-31T09:00:00.000Z',
  updated_at: '2026-01-31T09:00:00.000Z',
}
export const secretExample = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'

export const deliveryExample: Static<typeof DeliveryBody> = {
  delivery_id: '0197f3a2-7c1e-7000-8000-00000000000e',
  webhook_id: webhookExample.webhook_id,
  event_id: '0197f3a2-7c1e-7000-8000-00000000000d',
  type: 'call.ended',
  status: 'delivered',
  attempts: 1,
  next_attempt_at: null,
  last_attempt_at: '2026-01-31T09:00:41.800Z',
  duration_ms: 84,
  response: { status: 200, body: 'ok' },
  error: null,
  request: { url: webhookExample.url, body: '{"id":"0197f3a2-7c1e-7000-8000-00000000000d","type":"call.ended",…}' },
  created_at: '2026-01-31T09:00:41.700Z',
}

/** What the schema can't say. Throws 422 with all faults. */
export function refuseBadWebhook({
  url,
  types,
}: {
  url?: string | undefined
  types?: readonly string[] | undefined
}): void {
  const faults: Fault[] = []
  const parsed = url === undefined || !URL.canParse(url) ? undefined : new URL(url)
  if (url !== undefined && !(parsed?.protocol === 'https:' || parsed?.protocol === 'http:')) {
    faults.push({ loc: ['body', 'url'], msg: 'must be an http or https address', type: 'value_error' })
  } else if (parsed !== undefined && (parsed.username !== '' || parsed.password !== '')) {
    faults.push({ loc: ['body', 'url'], msg: 'must be without user and password', type: 'value_error' })
  }
  for (const [i, type] of (types ?? []).entries()) {
    if (asksForEvents(type)) continue
    faults.push({ loc: ['body', 'types', String(i)], msg: `${JSON.stringify(type)} is no type of event`, type: 'enum' })
  }
  if (faults.length > 0) throw new ValidationError(faults)
}

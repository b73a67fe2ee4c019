import { type Static, Type } from 'typebox'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { type PhoneNumber, parsePhoneNumber } from '../../runtime/lib/phone-number.ts'
import type { Logger } from '../../runtime/process/log.ts'
import { newWebhookSecret, webhookSecrets } from '../../runtime/webhooks/signature.ts'
import { agentById } from '../../store/agents/agents.ts'
import { isDuplicate } from '../../store/database/database.ts'
import type { PhoneNumberRow, User } from '../../store/database/schema.ts'
import type { Tenant } from '../../store/database/tenant.ts'
import {
  assignCarrierNumber,
  carrierNumberOf,
  keepBoughtNumber,
  removeCarrierNumber,
} from '../../store/telephony/carrier-numbers.ts'
import {
  changePhoneNumber,
  countPhoneNumbers,
  deletePhoneNumber,
  insertPhoneNumber,
  keepDelivery,
  listPhoneNumbers,
  phoneNumberRow,
} from '../../store/telephony/phone-numbers.ts'
import { ChangedSince, cursorOf, instantIn } from '../cursor.ts'
import { keyedBy, onceOutside } from '../idempotency.ts'
import { isUuid } from '../ids.ts'
import { LongListOf, LongListQuery, listBody, windowOf } from '../paging.ts'
import { requirePhoneNumber } from '../phone-number.ts'
import { requireProviders, requirePurchases } from '../quota.ts'
import { defineRoute } from '../route.ts'
import { ValidationError } from '../schema.ts'
import type { Services } from '../services.ts'
import { Detail } from '../workspaces/schema.ts'
import { askCarrier, mayHaveHappened, numbersOf, requireProvider, requireRegistrable } from './carrier.ts'
import {
  ChangePhoneNumberInput,
  CreatePhoneNumberInput,
  PhoneNumberBody,
  PhoneNumberWithSecretBody,
  PurchaseInput,
  phoneNumberBody,
  phoneNumberExample,
} from './schema.ts'

const tag = 'Phone numbers'

const phone_number = {
  description: 'E.164, with or without its plus.',
  example: phoneNumberExample.phone_number,
} as const

const create = defineRoute({
  method: 'POST',
  path: '/phone-numbers',
  auth: 'jwt_or_scope',
  role: 'developer',
  scope: 'numbers',
  body: CreatePhoneNumberInput,
  success: { status: 201, schema: PhoneNumberWithSecretBody },
  errors: [
    'invalid_phone_number',
    'agent_not_found',
    'phone_number_taken',
    'number_not_assigned',
    'trunk_not_found',
    'provider_fault',
  ],
  tag,
  summary: 'Register a phone number of a provider',
  description:
    'Calls to it reach the agent; outbound calls with it as their source are made by the provider. A number of a carrier account of the operator must have been given to the workspace (`POST /operator/phone-numbers`); an operator’s own request gives it.',
  examples: {
    body: { phone_number: '+1 415 555 0199', provider: 'sim', agent_id: phoneNumberExample.agent_id },
    success: phoneNumberExample,
  },
  handler: async ({ body, tenant, signal, user }, services) => {
    requireProvider(services, body.provider)
    await requireProviders(services, tenant, { provider: body.provider })
    const number = requirePhoneNumber(body.phone_number)
    const agentId = await requireAgent(tenant, body.agent_id ?? null)
    const carrier = await requireRegistrable(services, tenant, body.provider, body.trunk ?? undefined)
    await requireAssigned(services, { provider: body.provider, phoneNumber: number, tenant, user })
    const webhook = inboundWebhook(services, number, body.inbound_webhook)
    const row = {
      ...{ phone_number: number, provider: body.provider, agent_id: agentId, trunk: body.trunk ?? null },
      bought: false,
    }
    const inserted = await insert(tenant, { ...row, ...webhook.columns })
    try {
      const before = await askCarrier(services, body.provider, signal, (bound) =>
        carrier?.register?.(number, body.trunk ?? undefined, bound, tenant.workspaceId),
      )
      if (before !== undefined) await keepDelivery(tenant, number, before)
    } catch (error) {
      await deletePhoneNumber(tenant, number)
      throw error
    }
    return { ...phoneNumberBody(inserted), ...webhook.shown }
  },
})

const purchase = defineRoute({
  method: 'POST',
  path: '/phone-numbers/purchase',
  auth: 'jwt_or_scope',
  role: 'developer',
  scope: 'numbers',
  idempotent: true,
  body: PurchaseInput,
  success: { status: 201, schema: PhoneNumberBody },
  errors: ['phone_number_taken', 'provider_fault', 'purchases_refused', 'quota_reached'],
  tag,
  summary: 'Buy a phone number from a provider',
  examples: {
    body: { provider: 'sim', country: 'US', area_code: '415' },
    success: { ...phoneNumberExample, agent_id: null },
  },
  handler: async (request, services) => {
    const { body, tenant, signal, log } = request
    requireProvider(services, body.provider)
    await requirePurchases(services, tenant)
    await requireProviders(services, tenant, { provider: body.provider })
    const keyed = keyedBy(request, tenant, 'POST /phone-numbers/purchase', body)
    const { answer } = await onceOutside(keyed, () => buy(body, tenant, services, { signal, log }), mayHaveHappened)
    return answer
  },
})

async function buy(
  body: Static<typeof PurchaseInput>,
  tenant: Tenant,
  services: Services,
  { signal, log }: { signal: AbortSignal; log: Logger },
): Promise<Static<typeof PhoneNumberBody>> {
  const numbers = await numbersOf(services, body.provider)
  const { ownNumbers } = await services.carriers.get(body.provider)
  const wanted = {
    country: body.country,
    ...(body.area_code === undefined ? {} : { areaCode: body.area_code }),
  }
  const number = await askCarrier(services, body.provider, signal, (bound) => numbers?.purchase?.(wanted, bound))
  if (number === undefined) {
    throw new PatchbayError('provider_fault', {
      params: { provider: services.plugins.titleOf(body.provider), detail: 'it sells no numbers' },
    })
  }
  try {
    const { provider } = body
    const owner = { provider, phoneNumber: number, workspaceId: tenant.workspaceId }
    if (ownNumbers !== true && !(await keepBoughtNumber(services.store, owner))) {
      throw new PatchbayError('phone_number_taken')
    }
    const row = { phone_number: number, provider, agent_id: null, trunk: null, bought: true }
    return phoneNumberBody(await insert(tenant, row))
  } catch (error) {
    const kept = { bought: true, before: null }
    await askCarrier(services, body.provider, signal, (bound) => numbers?.release?.(number, bound, kept)).catch(
      (err) => {
        log.error({ err, phoneNumber: number }, 'A bought number could be neither stored nor released')
      },
    )
    throw error
  }
}

const list = defineRoute({
  method: 'GET',
  path: '/phone-numbers',
  auth: 'jwt_or_scope',
  role: 'member',
  scope: 'numbers',
  query: Type.Object({ ...LongListQuery.properties, updated_since: ChangedSince }),
  success: { status: 200, schema: LongListOf(PhoneNumberBody) },
  tag,
  summary: 'The phone numbers of the workspace, by number; as pages when `page`, `page_size` or `after` is given',
  examples: { success: [phoneNumberExample] },
  handler: async ({ tenant, query }) => {
    const since = instantIn(query.updated_since)
    const isNumber = (id: string) => parsePhoneNumber(id) === id
    const part = windowOf(query, cursorOf(query, isNumber))
    const rows = await listPhoneNumbers(tenant, part, since)
    const last = rows.at(-1)
    const total = part === undefined ? rows.length : await countPhoneNumbers(tenant, since)
    return listBody(rows.map(phoneNumberBody), total, query, last && { id: last.phone_number })
  },
})

const read = defineRoute({
  method: 'GET',
  path: '/phone-numbers/{phone_number}',
  auth: 'jwt_or_scope',
  role: 'member',
  scope: 'numbers',
  params: { phone_number },
  success: { status: 200, schema: PhoneNumberBody },
  errors: ['phone_number_not_found'],
  tag,
  summary: 'One phone number',
  examples: { success: phoneNumberExample },
  handler: async ({ params, tenant }) => phoneNumberBody(await requireRow(tenant, params.phone_number)),
})

const change = defineRoute({
  method: 'PATCH',
  path: '/phone-numbers/{phone_number}',
  auth: 'jwt_or_scope',
  role: 'developer',
  scope: 'numbers',
  params: { phone_number },
  body: ChangePhoneNumberInput,
  success: { status: 200, schema: PhoneNumberWithSecretBody },
  errors: ['phone_number_not_found', 'agent_not_found', 'trunk_not_found', 'provider_fault'],
  tag,
  summary: 'Choose which agent answers a phone number, its trunk, and how many calls it may have',
  description: 'Each time an `inbound_webhook` is set it gets a new secret.',
  examples: { body: { agent_id: phoneNumberExample.agent_id }, success: phoneNumberExample },
  handler: async ({ params, body, tenant, signal }, services) => {
    const { phone_number, provider } = await requireRow(tenant, params.phone_number)
    const { agent_id, trunk, max_concurrent_calls } = body
    if (trunk !== undefined) {
      const carrier = await requireRegistrable(services, tenant, provider, trunk ?? undefined)
      await askCarrier(services, provider, signal, (bound) =>
        carrier?.register?.(phone_number as PhoneNumber, trunk, bound, tenant.workspaceId),
      )
    }
    const webhook = inboundWebhook(services, phone_number, body.inbound_webhook)
    const row = await changePhoneNumber(tenant, phone_number, {
      ...(agent_id === undefined ? {} : { agent_id: await requireAgent(tenant, agent_id) }),
      ...(trunk === undefined ? {} : { trunk }),
      ...(max_concurrent_calls === undefined ? {} : { max_concurrent_calls }),
      ...webhook.columns,
    })
    if (row === undefined) throw new PatchbayError('phone_number_not_found')
    return { ...phoneNumberBody(row), ...webhook.shown }
  },
})

const remove = defineRoute({
  method: 'DELETE',
  path: '/phone-numbers/{phone_number}',
  auth: 'jwt_or_scope',
  role: 'developer',
  scope: 'numbers',
  params: { phone_number },
  success: { status: 200, schema: Detail },
  errors: ['phone_number_not_found', 'provider_fault'],
  tag,
  summary: 'Give up a phone number',
  description:
    'A bought number is given back to its provider. The calls of another are delivered again where they went before it was registered.',
  examples: { success: { detail: 'Phone number deleted' } },
  handler: async ({ params, tenant, signal }, services) => {
    const { phone_number, provider, bought, delivery_before: before } = await requireRow(tenant, params.phone_number)
    const number = phone_number as PhoneNumber
    const numbers = await numbersOf(services, provider)
    const kept = { bought, before }
    await askCarrier(services, provider, signal, (bound) => numbers?.release?.(number, bound, kept))
    if (!(await deletePhoneNumber(tenant, phone_number))) throw new PatchbayError('phone_number_not_found')
    if (bought === true) await removeCarrierNumber(services.store, provider, number)
    return { detail: 'Phone number deleted' }
  },
})

export const phoneNumberRoutes = [create, purchase, list, read, change, remove]

/** The columns of an `inbound_webhook` that is set, or taken away, and what is shown of it this once. */
function inboundWebhook(
  { config }: Services,
  phoneNumber: string,
  url: string | null | undefined,
): { columns: Partial<Parameters<typeof changePhoneNumber>[2]>; shown: { inbound_webhook_secret?: string } } {
  if (url === undefined) return { columns: {}, shown: {} }
  if (url === null) return { columns: { inbound_webhook: null, inbound_webhook_secret: null }, shown: {} }
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new ValidationError([
      { loc: ['body', 'inbound_webhook'], msg: 'must be an http or https address', type: 'value_error' },
    ])
  }
  const secret = newWebhookSecret()
  const sealed = webhookSecrets(config).seal(secret, phoneNumber)
  return {
    columns: { inbound_webhook: url, inbound_webhook_secret: sealed },
    shown: { inbound_webhook_secret: secret },
  }
}

async function insert(tenant: Tenant, row: Parameters<typeof insertPhoneNumber>[1]): Promise<PhoneNumberRow> {
  try {
    return await insertPhoneNumber(tenant, row)
  } catch (error) {
    throw isDuplicate(error) ? new PatchbayError('phone_number_taken') : error
  }
}

/** A number in a path names nothing when it isn't one. */
async function requireRow(tenant: Tenant, text: string): Promise<PhoneNumberRow> {
  const number = parsePhoneNumber(text.startsWith('+') ? text : `+${text.trim()}`)
  const row = number === undefined ? undefined : await phoneNumberRow(tenant, number)
  if (row === undefined) throw new PatchbayError('phone_number_not_found')
  return row
}

/** Throws `number_not_assigned` for a number of the operator's account that is not this workspace's. */
async function requireAssigned(
  { carriers, store, operators, plugins }: Services,
  number: { provider: string; phoneNumber: PhoneNumber; tenant: Tenant; user: User | undefined },
): Promise<void> {
  const { provider, phoneNumber, tenant, user } = number
  if ((await carriers.get(provider)).ownNumbers === true) return
  const { workspaceId } = tenant
  const assigned = await carrierNumberOf(store, provider, phoneNumber)
  if (assigned?.workspace_id === workspaceId) return
  if (assigned === undefined && operators.includes(user)) {
    await assignCarrierNumber(store, { provider, phoneNumber, workspaceId, assignedBy: user?.id ?? null })
    return
  }
  throw new PatchbayError('number_not_assigned', {
    params: { phone_number: phoneNumber, provider: plugins.titleOf(provider) },
  })
}

async function requireAgent(tenant: Tenant, agentId: string | null): Promise<string | null> {
  if (agentId === null) return null
  const agent = isUuid(agentId) ? await agentById(tenant, agentId) : undefined
  if (agent === undefined) throw new PatchbayError('agent_not_found')
  return agent.id
}

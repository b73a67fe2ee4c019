import { PatchbayError } from '../../runtime/lib/errors.ts'
import { workspaceById } from '../../store/accounts/instance.ts'
import { assignCarrierNumber, listCarrierNumbers, removeCarrierNumber } from '../../store/telephony/carrier-numbers.ts'
import { ListOf, ListQuery, listOf } from '../paging.ts'
import { requirePhoneNumber } from '../phone-number.ts'
import { requireProvider } from '../phone-numbers/carrier.ts'
import { defineRoute } from '../route.ts'
import { ValidationError } from '../schema.ts'
import type { Services } from '../services.ts'
import { Detail } from '../workspaces/schema.ts'
import { CarrierNumberBody, CarrierNumberInput, carrierNumberBody, carrierNumberExample } from './schema.ts'

/** Which workspace has which number of the carrier accounts. */

const common = { auth: 'jwt', role: 'operator', tag: 'Operator' } as const

const list = defineRoute({
  ...common,
  method: 'GET',
  path: '/operator/phone-numbers',
  query: ListQuery,
  success: { status: 200, schema: ListOf(CarrierNumberBody) },
  summary: 'The numbers of your carrier accounts that workspaces were given or bought',
  examples: { success: [carrierNumberExample] },
  handler: async ({ query }, { store }) => listOf((await listCarrierNumbers(store)).map(carrierNumberBody), query),
})

const assign = defineRoute({
  ...common,
  method: 'POST',
  path: '/operator/phone-numbers',
  audit: ['provider', 'phone_number', 'workspace_id'],
  body: CarrierNumberInput,
  success: { status: 201, schema: CarrierNumberBody },
  errors: ['invalid_phone_number', 'workspace_not_found'],
  summary: 'Give a number of a carrier account to a workspace, which may then register it',
  description:
    'Of providers with an account of yours, such as Twilio; numbers of `sip` and `sim` are the workspaces’ own and are not given (422). A number has one workspace: one that had registered it has it no more. Nothing changes at the carrier until the number is registered.',
  examples: {
    body: {
      provider: 'twilio',
      phone_number: carrierNumberExample.phone_number,
      workspace_id: carrierNumberExample.workspace_id,
    },
    success: carrierNumberExample,
  },
  handler: async ({ body, user }, services) => {
    requireProvider(services, body.provider)
    await requireAccount(services, body.provider)
    const phoneNumber = requirePhoneNumber(body.phone_number)
    const workspace = await workspaceById(services.store, body.workspace_id)
    if (workspace === undefined) throw new PatchbayError('workspace_not_found')
    const number = { provider: body.provider, phoneNumber, workspaceId: workspace.id, assignedBy: user.id }
    return carrierNumberBody(await assignCarrierNumber(services.store, number))
  },
})

/** Throws 422 for a provider whose numbers are the workspaces' own: nobody gives them. */
async function requireAccount({ plugins, carriers }: Services, provider: string): Promise<void> {
  // A carrier without its credentials can't be made; it has an account all the same.
  if (plugins.missingKey(provider) !== undefined || (await carriers.get(provider)).ownNumbers !== true) return
  const msg = `numbers of ${JSON.stringify(provider)} belong to no account of yours: the workspace registers them by POST /phone-numbers`
  throw new ValidationError([{ loc: ['body', 'provider'], msg, type: 'value_error' }])
}

const take = defineRoute({
  ...common,
  method: 'DELETE',
  path: '/operator/phone-numbers/{provider}/{phone_number}',
  params: {
    provider: { description: 'The telephony plugin.', example: carrierNumberExample.provider },
    phone_number: {
      description: 'E.164, with or without its plus.',
      example: carrierNumberExample.phone_number,
    },
  },
  success: { status: 200, schema: Detail },
  errors: ['invalid_phone_number', 'carrier_number_not_found'],
  summary: 'Take a number of a carrier account back from its workspace',
  description: 'Its registration goes, too. Nothing changes at the carrier: its calls come here and are refused.',
  examples: { success: { detail: 'Phone number taken back' } },
  handler: async ({ params }, { store }) => {
    const { provider, phone_number: text } = params
    const number = requirePhoneNumber(text.startsWith('+') ? text : `+${text.trim()}`)
    if (!(await removeCarrierNumber(store, provider, number))) throw new PatchbayError('carrier_number_not_found')
    return { detail: 'Phone number taken back' }
  },
})

export const operatorNumberRoutes = [list, assign, take]

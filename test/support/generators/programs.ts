/**
 * One program for each generator of TypeScript clients, as its users would write it: an agent, a number, a call, a campaign with an
 * upload, a webhook, a report. It gets an address and an API key, and prints what it made. A line that must not compile says so.
 */

const FILE = `new File(['primary_phone,first_name,external_id\\n+14155550123,Ada,crm-1815\\n'], 'prospects.csv')`
const START = `const [baseUrl = '', key = ''] = process.argv.slice(2)`
const made = (fields: string): string => `console.log(JSON.stringify({ ${fields} }))`

const OPENAPI_FETCH = `
import createClient from 'openapi-fetch'
import type { components, paths } from './generated.ts'

${START}
const client = createClient<paths>({ baseUrl, headers: { 'x-api-key': key } })
const must = async <T>(answer: Promise<{ data?: T; error?: unknown }>): Promise<T> => {
  const { data, error } = await answer
  if (data === undefined) throw new Error(JSON.stringify(error))
  return data
}
const agent = await must(client.POST('/agents', { body: { agent_name: 'Ada', system_prompt: 'You answer.' } }))
const { phone_number } = await must(client.POST('/phone-numbers', {
  body: { phone_number: '+14155550100', provider: 'sim', agent_id: agent.agent_id } }))
const call = await must(client.POST('/calls/outbound_call', {
  body: { agent_phone_number: phone_number, phone_number_to_dial: '+14155550199', dynamic_variables: { crm_id: 'c-7' } },
  params: { header: { 'Idempotency-Key': 'order-1' } } }))
const crm: string | undefined = call.dynamic_variables['crm_id']
const campaign = await must(client.POST('/api/v/campaign/', { body: { name: 'March', agent_id: agent.agent_id, active: false } }))
const list = await must(client.POST('/api/v/list/', { body: { campaign: campaign.slug, name: 'List' } }))
const upload = await must(client.POST('/api/v/upload/{uuid}/', {
  params: { path: { uuid: list.list_slug } },
  body: { original_data: ${FILE} as unknown as string, dedupe: true },
  bodySerializer: (fields) => {
    const form = new FormData()
    for (const [name, value] of Object.entries(fields ?? {})) form.append(name, value as string | Blob)
    return form
  } }))
const webhook = await must(client.POST('/webhooks', { body: { url: 'https://example.com/hook', types: ['call.ended'] } }))
const report = await must(client.GET('/reports/dashboard', { params: { query: { call_type: 'phone' } } }))
const logs = await must(client.GET('/calls/logs', { params: { query: { status: ['queued', 'ringing'] } } }))
const seen = (event: components['schemas']['WebhookEvent']): string =>
  event.type === 'call.ended' ? event.data.call_log_id : event.type === 'call.turn' ? event.data.text : event.id
// @ts-expect-error a required field is missing
const incomplete = () => client.POST('/agents', { body: { agent_name: 'Ada' } })
// @ts-expect-error there is no such type of call
const misspelled = () => client.GET('/calls/logs', { params: { query: { call_type: 'fax' } } })
void [incomplete, misspelled, seen]
${made('agent: agent.agent_id, number: phone_number, call: call.call_log_id, crm, campaign: campaign.slug, upload: upload.uuid, webhook: webhook.webhook_id, calls: report.totals.total_calls, logs: logs.total')}
`

const HEY = `
import * as api from './hey/index.ts'
import { client } from './hey/client.gen.ts'

${START}
client.setConfig({ baseUrl, auth: key, throwOnError: true })
const throwOnError = true
const { data: agent } = await api.createAgent({ throwOnError, body: { agent_name: 'Ada', system_prompt: 'You answer.' } })
const { data: { phone_number } } = await api.createPhoneNumber({ throwOnError,
  body: { phone_number: '+14155550100', provider: 'sim', agent_id: agent.agent_id } })
const { data: call } = await api.placeCall({ throwOnError,
  body: { agent_phone_number: phone_number, phone_number_to_dial: '+14155550199', dynamic_variables: { crm_id: 'c-7' } } })
const crm: string | undefined = call.dynamic_variables['crm_id']
const { data: campaign } = await api.createCampaign({ throwOnError, body: { name: 'March', agent_id: agent.agent_id, active: false } })
const { data: list } = await api.createList({ throwOnError, body: { campaign: campaign.slug, name: 'List' } })
const { data: upload } = await api.uploadProspects({ throwOnError,
  path: { uuid: list.list_slug }, body: { original_data: ${FILE}, dedupe: true } })
const { data: webhook } = await api.createWebhook({ throwOnError, body: { url: 'https://example.com/hook', types: ['call.ended'] } })
const { data: report } = await api.getDashboard({ throwOnError, query: { call_type: 'phone' } })
const { data: logs } = await api.listCalls({ throwOnError, query: { status: ['queued', 'ringing'] } })
const seen = (event: api.WebhookEvent): string => (event.type === 'call.ended' ? event.data.call_log_id : event.id)
// @ts-expect-error a required field is missing
const incomplete = () => api.createAgent({ body: { agent_name: 'Ada' } })
void [incomplete, seen]
${made('agent: agent.agent_id, number: phone_number, call: call.call_log_id, crm, campaign: campaign.slug, upload: upload.uuid, webhook: webhook.webhook_id, calls: report.totals.total_calls, logs: logs.total')}
`

const ORVAL = `
import * as api from './orval.ts'

${START}
const fetched = globalThis.fetch
globalThis.fetch = (url, init) => fetched(new URL(String(url), baseUrl), init)
const options = { headers: { 'x-api-key': key } }
function must<T extends { status: number; data: unknown }>(answer: T): Extract<T, { status: 200 | 201 }>['data'] {
  if (answer.status >= 300) throw new Error(JSON.stringify(answer.data))
  return answer.data as Extract<T, { status: 200 | 201 }>['data']
}
const agent = must(await api.createAgent({ agent_name: 'Ada', system_prompt: 'You answer.' }, options))
const { phone_number } = must(await api.createPhoneNumber(
  { phone_number: '+14155550100', provider: 'sim', agent_id: agent.agent_id }, options))
const call = must(await api.placeCall(
  { agent_phone_number: phone_number, phone_number_to_dial: '+14155550199', dynamic_variables: { crm_id: 'c-7' } }, options))
const crm: string | undefined = call.dynamic_variables['crm_id']
const campaign = must(await api.createCampaign({ name: 'March', agent_id: agent.agent_id, active: false }, options))
const list = must(await api.createList({ campaign: campaign.slug, name: 'List' }, options))
const upload = must(await api.uploadProspects(list.list_slug, { original_data: ${FILE}, dedupe: true }, options))
const webhook = must(await api.createWebhook({ url: 'https://example.com/hook', types: ['call.ended'] }, options))
const report = must(await api.getDashboard({ call_type: 'phone' }, options))
const logs = must(await api.listCalls({ status: ['queued', 'ringing'] }, options))
// @ts-expect-error a required field is missing
const incomplete = () => api.createAgent({ agent_name: 'Ada' }, options)
void incomplete
${made('agent: agent.agent_id, number: phone_number, call: call.call_log_id, crm, campaign: campaign.slug, upload: upload.uuid, webhook: webhook.webhook_id, calls: report.totals.total_calls, logs: logs.total')}
`

const TYPESCRIPT_FETCH = `
import * as api from './typescript-fetch/index.ts'

${START}
const settings = new api.Configuration({ basePath: baseUrl, apiKey: (name) => (name === 'x-api-key' ? key : '') })
const agent = await new api.AgentsApi(settings).createAgent({ createAgentInput: { agentName: 'Ada', systemPrompt: 'You answer.' } })
const { phoneNumber } = await new api.PhoneNumbersApi(settings).createPhoneNumber({
  createPhoneNumberInput: { phoneNumber: '+14155550100', provider: 'sim', agentId: agent.agentId } })
const calls = new api.CallsApi(settings)
const call = await calls.placeCall({ placeCallInput: {
  agentPhoneNumber: phoneNumber, phoneNumberToDial: '+14155550199', dynamicVariables: { crm_id: 'c-7' } } })
const crm: string | undefined = call.dynamicVariables['crm_id']
const campaign = await new api.CampaignsApi(settings).createCampaign({
  createCampaign: { name: 'March', agentId: agent.agentId, active: false } })
const list = await new api.ProspectsApi(settings).createList({ createListInput: { campaign: campaign.slug, name: 'List' } })
const upload = await new api.ProspectsApi(settings).uploadProspects({ uuid: list.listSlug, originalData: ${FILE}, dedupe: true })
const webhook = await new api.WebhooksApi(settings).createWebhook({
  createWebhookInput: { url: 'https://example.com/hook', types: ['call.ended'] } })
const report = await new api.ReportsApi(settings).getDashboard({ callType: 'phone' })
const logs = await calls.listCalls({ status: ['queued', 'ringing'] })
${made('agent: agent.agentId, number: phoneNumber, call: call.callLogId, crm, campaign: campaign.slug, upload: upload.uuid, webhook: webhook.webhookId, calls: report.totals.totalCalls, logs: logs.total')}
`

export const PROGRAMS = {
  'openapi-typescript': OPENAPI_FETCH,
  'hey-api': HEY,
  orval: ORVAL,
  'typescript-fetch': TYPESCRIPT_FETCH,
}

import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import t from 'tap'
import type { KeyScope } from '../../../../store/database/schema.ts'
import { startTestApi, type TestUser } from '../../../support/instance/api.ts'
import { callWhen, isOver, linkWorker, startPhone } from '../../../support/phone/phone.ts'

const api = await startTestApi(t)
await linkWorker(t, api)

async function connect(of: TestUser, scopes: KeyScope[]) {
  const { body } = await of.client.post('/api-keys', { body: { name: 'mcp', scopes } })
  const client = new Client({ name: 'test', version: '1' })
  const transport = new StreamableHTTPClientTransport(new URL('/mcp', api.url), {
    requestInit: { headers: { authorization: `Bearer ${body.key}` } },
  })
  await client.connect(transport as Parameters<Client['connect']>[0])
  t.teardown(() => client.close())
  const run = async (name: string, input: Record<string, unknown> = {}) => {
    const { content, isError } = await client.callTool({ name, arguments: input })
    const [part] = content as { type: 'text'; text: string }[]
    return { isError, body: JSON.parse(part!.text) }
  }
  return { client, run }
}

t.test('a client of the Model Context Protocol lists agents and places a call', async (t) => {
  const user = await api.signUp()
  const { agentId, number } = await startPhone(api, user)
  const { client, run } = await connect(user, ['read', 'calls', 'campaigns', 'numbers'])
  t.match(client.getServerVersion(), { name: 'patchbay' })
  const { tools } = await client.listTools()
  t.match(
    tools.find(({ name }) => name === 'place_call'),
    {
      inputSchema: {
        type: 'object',
        properties: { agent_phone_number: { type: 'string' }, idempotency_key: { type: 'string' } },
        required: ['agent_phone_number', 'phone_number_to_dial'],
      },
    },
  )
  t.match((await run('list_agents')).body, [{ agent_id: agentId, agent_name: 'Ada' }])
  t.match((await run('get_agent', { agent_id: agentId })).body, { agent_id: agentId })

  const order = { agent_phone_number: number, phone_number_to_dial: '+14155550199', idempotency_key: 'once' }
  const placed = await run('place_call', order)
  t.match(placed, { isError: false, body: { status: 'queued', to_number: '+14155550199', agent_id: agentId } })
  t.equal((await run('place_call', order)).body.call_log_id, placed.body.call_log_id, 'a key is one call')
  await callWhen(user, placed.body.call_log_id, ({ status }) => status === 'in_progress')
  t.match((await run('hang_up_call', { call_log_id: placed.body.call_log_id })).isError, false)
  await callWhen(user, placed.body.call_log_id, isOver)
  const { body: listed } = await run('list_calls', { page: 1, page_size: 5 })
  t.match(listed, { total: 1, items: [{ call_log_id: placed.body.call_log_id }] })
  t.match((await run('get_call_events', { call_log_id: placed.body.call_log_id })).body.items[0], { type: 'queued' })
  for (const name of ['list_campaigns', 'report_dashboard', 'list_phone_numbers']) {
    t.equal((await run(name)).isError, false, name)
  }
})

t.test('every tool that is listed takes what its schema asks for', async (t) => {
  const user = await api.signUp()
  const { client } = await connect(user, ['read', 'calls', 'agents', 'campaigns'])
  const { tools } = await client.listTools()
  for (const { name, inputSchema } of tools) {
    const { properties = {}, required = [] } = inputSchema
    t.ok(
      required.every((field) => Object.hasOwn(properties, field)),
      name,
    )
  }
})

t.test('a key does what its scopes allow, in its own workspace, and is told what is wrong', async (t) => {
  const user = await api.signUp()
  const other = await api.signUp()
  const { agentId, number } = await startPhone(api, user)
  const reader = await connect(user, ['read'])
  const refused = await reader.run('place_call', { agent_phone_number: number, phone_number_to_dial: '+14155550199' })
  t.match(refused, { isError: true, body: { detail: String } })
  t.match(await reader.run('get_agent', { agent_id: 'x' }), { isError: true, body: { detail: 'Agent not found' } })
  t.match(await reader.run('list_calls', { page: 0 }), {
    isError: true,
    body: { detail: [{ loc: ['query', 'page'] }] },
  })
  const stranger = await connect(other, ['read'])
  t.match(await stranger.run('get_agent', { agent_id: agentId }), { isError: true })
  await t.rejects(reader.client.callTool({ name: 'drop_tables', arguments: {} }), /no tool/)
  const nobody = new Client({ name: 'test', version: '1' })
  const transport = new StreamableHTTPClientTransport(new URL('/mcp', api.url))
  await t.rejects(nobody.connect(transport as Parameters<Client['connect']>[0]), { code: 401 })
  const response = await fetch(new URL('/mcp', api.url))
  t.equal(response.status, 405, 'there is no stream to listen to')
})

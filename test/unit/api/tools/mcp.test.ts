import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { startTestApi, type TestUser } from '../../../support/instance/api.ts'
import { RealtimeClient, until } from '../../../support/instance/realtime-node.ts'
import { callWhen, isOver } from '../../../support/phone/phone.ts'
import { startTestVoice } from '../../../support/phone/voice.ts'
import { startMcpExample } from '../../../support/providers/mcp-example.ts'

const example = await startMcpExample(t)
const api = await startTestApi(t, { env: { PATCHBAY_TOOLS_ALLOW_NET: 'localhost' } })
await startTestVoice(t, api)

const agentWith = (tools: unknown[], script: unknown[] = []) => ({
  agent_name: 'Ava',
  system_prompt: 'Be kind.',
  first_message: 'Hello.',
  LLM_provider: 'sim',
  LLM_model: JSON.stringify({ script }),
  tools,
})

async function make(user: TestUser, tools: unknown[], script: unknown[] = []): Promise<string> {
  const made = await user.client.post('/agents', { body: agentWith(tools, script) })
  if (made.status !== 201) throw new Error(made.text)
  const { agent_id } = made.body
  // A call waits two seconds for a server that was never listed, and this machine may be busier than that.
  const wanted = tools.some((tool) => (tool as { url: string }).url === example.url)
  await until(async () => {
    const { body } = await user.client.get(`/agents/${agent_id}/tools`)
    return !wanted || body.tools.length > 0
  })
  return agent_id
}

async function talk(user: TestUser, agentId: string, text: string) {
  const { body } = await user.client.get('/calls/generate-token', { query: { agent_id: agentId } })
  const client = new RealtimeClient({ url: api.url.replace(/^http/, 'ws') }, body.token)
  await client.got('session.started')
  await client.got('transcript', { role: 'assistant', final: true })
  client.send({ type: 'text', text })
  return { client, callId: body.call_log_id as string }
}

/** What the agent has said for the nth time, its greeting being the first; the model of these tests quotes what a tool says. */
async function said(client: RealtimeClient, n: number): Promise<string> {
  const all = () =>
    client.messages.filter(({ type, role, final }) => type === 'transcript' && role === 'assistant' && final === true)
  await until(
    () => all().length >= n,
    () => JSON.stringify(all()),
  )
  return String(all()[n - 1]?.text)
}

const GREET = { question: 'Greet me', tool: { name: 'greet', arguments: { name: 'Ada' } }, answer: '{output}' }

t.test('an agent answers a caller with a tool of an MCP server', async (t) => {
  const user = await api.signUp()
  const agentId = await make(user, [{ type: 'mcp', url: example.url, allow: ['greet'] }], [GREET])
  const { client, callId } = await talk(user, agentId, 'Greet me')
  t.match(await said(client, 2), 'Hello, Ada!')
  client.send({ type: 'end' })
  await callWhen(user, callId, isOver)
  const { body } = await user.client.get(`/calls/${callId}/events`, { query: { page_size: 200 } })
  t.match(
    body.items.filter(({ type }: { type: string }) => type.startsWith('tool_')),
    [
      { type: 'tool_called', name: 'greet', arguments: { name: 'Ada' } },
      { type: 'tool_returned', result: 'Hello, Ada!' },
    ],
  )

  const chat = await user.client.post('/chats/interaction', { body: { agent_id: agentId, message: 'Greet me' } })
  t.equal(chat.body.response, 'Hello, Ada!', 'so does a chat')
  t.match((await user.client.get(`/agents/${agentId}/tools`)).body, {
    tools: [{ name: 'greet', type: 'mcp', parameters: { type: 'object', required: ['name'] } }],
    faults: [],
  })
})

t.test('a server that cannot be reached costs the call its tools and nothing else', async (t) => {
  const user = await api.signUp()
  const hanging = createServer(() => undefined).listen(0, '127.0.0.1')
  t.teardown(() => hanging.closeAllConnections())
  t.teardown(() => hanging.close())
  await new Promise((resolve) => hanging.once('listening', resolve))
  const { port } = hanging.address() as AddressInfo
  const agentId = await make(
    user,
    [
      { type: 'mcp', name: 'gone', url: 'http://localhost:1/mcp' },
      { type: 'mcp', name: 'hangs', url: `http://localhost:${port}/mcp`, timeout_ms: 300 },
      { type: 'mcp', name: 'inside', url: 'http://169.254.169.254/mcp' },
      { type: 'mcp', name: 'there', url: example.url, allow: ['greet', 'dance'] },
    ],
    [GREET],
  )
  const { client, callId } = await talk(user, agentId, 'Greet me')
  t.match(await said(client, 2), 'Hello, Ada!')
  client.send({ type: 'end' })
  const call = await callWhen(user, callId, isOver)
  t.match(call.error, /MCP server "gone": ECONNREFUSED/)
  t.match(call.error, /MCP server "hangs": no answer within 300 ms/)
  t.match(call.error, /MCP server "inside": the host is unknown, or none that tools may reach/)
  t.match(call.error, /MCP server "there" has no tool "dance"/)
})

t.test('a server that dies in the middle is an answer the model reads', async (t) => {
  const user = await api.signUp()
  const dying = await startMcpExample(t)
  const agentId = await make(user, [{ type: 'mcp', url: dying.url }], [GREET])
  const { body: before } = await user.client.get(`/agents/${agentId}/tools`)
  t.ok(before.tools.length > 2, 'all of its tools')
  await dying.stop()
  const { client, callId } = await talk(user, agentId, 'Greet me')
  t.match(await said(client, 2), 'The tool failed: ECONNREFUSED')
  client.send({ type: 'end' })
  t.match((await callWhen(user, callId, isOver)).error, /Tool "greet": ECONNREFUSED/)
})

t.test('a session its server forgot is begun anew, and the call is made once', async (t) => {
  const user = await api.signUp()
  const calls: { key: unknown; header: string | undefined; secret: string | undefined }[] = []
  let sessions = 0
  let forgotten = 0
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const message = JSON.parse(Buffer.concat(parts).toString() || '{}')
    const json = (result: unknown, headers = {}) => {
      response.writeHead(200, { 'content-type': 'application/json', ...headers })
      response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result }))
    }
    if (message.method === 'initialize') {
      const { protocolVersion } = message.params
      const session = { 'mcp-session-id': String(++sessions) }
      return json({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } }, session)
    }
    if (message.id === undefined) return response.writeHead(202).end()
    if (Number(request.headers['mcp-session-id']) <= forgotten) return response.writeHead(404).end()
    const inputSchema = { type: 'object', properties: { pin: { type: 'string', writeOnly: true } }, required: ['pin'] }
    if (message.method === 'tools/list') {
      const broken = {
        name: 'broken',
        inputSchema: { type: 'object', properties: { a: { type: 'string', pattern: '(' } } },
      }
      return json({ tools: [{ name: 'check.pin', description: 'Checks.', inputSchema }, broken] })
    }
    const { authorization: secret } = request.headers
    const { _meta: meta } = message.params
    calls.push({ key: meta['patchbay/idempotency-key'], header: String(request.headers['idempotency-key']), secret })
    json({ content: [{ type: 'text', text: `It fits. ${secret} ${'x'.repeat(20_000)}` }] })
  }).listen(0, '127.0.0.1')
  t.teardown(() => server.closeAllConnections())
  t.teardown(() => server.close())
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  const tool = { type: 'mcp', url: `http://localhost:${port}/`, headers: { Authorization: 'Bearer s3cret-key' } }
  const script = [
    { question: 'Wrong', tool: { name: 'check_pin', arguments: { pin: 1 } }, answer: '{output}' },
    { question: 'Right', tool: { name: 'check_pin', arguments: { pin: '4711' } }, answer: 'Done.' },
  ]
  const agentId = await make(user, [tool], script)
  t.notMatch((await user.client.get(`/agents/${agentId}`)).text, 's3cret')
  const { body } = await user.client.get(`/agents/${agentId}/tools`)
  t.same(
    body.tools.map(({ name }: { name: string }) => name),
    ['check_pin'],
  )
  forgotten = sessions
  const { client, callId } = await talk(user, agentId, 'Wrong')
  t.match(await said(client, 2), /Wrong arguments: .*pin/)
  client.send({ type: 'text', text: 'Right' })
  t.equal(await said(client, 3), 'Done.')
  client.send({ type: 'end' })
  await callWhen(user, callId, isOver)
  t.equal(calls.length, 1)
  t.match(calls[0], { key: new RegExp(`^${callId}:`), secret: 'Bearer s3cret-key' })
  t.equal(calls[0]?.header, calls[0]?.key)
  const { body: events } = await user.client.get(`/calls/${callId}/events`, { query: { page_size: 200 } })
  const told = JSON.stringify(events.items.filter(({ type }: { type: string }) => type.startsWith('tool_')))
  t.notMatch(told, '4711', 'a secret argument is not in the log')
  t.notMatch(told, 's3cret-key', 'nor the secret of a header')
  t.ok(told.length < 30_000, `${told.length} characters`)
})

t.test('each fault of a server is named where it is', async (t) => {
  const { client } = await api.signUp()
  const faultsOf = async (tool: Record<string, unknown>) => {
    const { status, body } = await client.post('/agents', { body: agentWith([{ type: 'mcp', ...tool }]) })
    t.equal(status, 422)
    return body.detail.map(({ loc, type }: { loc: string[]; type: string }) => `${loc.slice(3).join('.')} ${type}`)
  }
  t.same(await faultsOf({}), ['url missing'])
  t.same(await faultsOf({ url: 'ftp://a.example/' }), ['url value_error'])
  t.same(await faultsOf({ url: 'https://a.example/{{x}}' }), ['url value_error'])
  t.same(await faultsOf({ url: 'https://a.example/', headers: { Host: 'x' } }), ['headers.Host value_error'])
})

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { startTestApi } from '../../../support/instance/api.ts'
import { installPlugin } from '../../../support/instance/install-plugin.ts'

t.test('a chat calls a tool with its sealed header, and falls back to another model', async (t) => {
  const seen: { url: string; authorization: string | undefined }[] = []
  const server = createServer((request, response) => {
    seen.push({ url: request.url ?? '', authorization: request.headers.authorization })
    response.end('shipped')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const api = await startTestApi(t, { env: { PATCHBAY_TOOLS_ALLOW_NET: `localhost:${port}` } })
  const { client } = await api.signUp()
  const script = [
    { question: 'Where?', tool: { name: 'order_status', arguments: { id: 'A1' } }, answer: 'It is {output}.' },
    { question: 'Inside?', tool: { name: 'inside', arguments: {} }, answer: '{output}' },
    { question: 'Wrong?', tool: { name: 'order_status', arguments: { id: 3 } }, answer: '{output}' },
  ]
  const http = { url: `http://localhost:${port}/{{customer}}/{{id}}`, headers: { Authorization: 'Bearer s3cret' } }
  const made = await client.post('/agents', {
    body: {
      agent_name: 'A',
      system_prompt: 'Be kind.',
      LLM_provider: 'sim',
      LLM_model: JSON.stringify({ fault: { kind: 'error' } }),
      fallbacks: { LLM: [{ provider: 'sim', model: JSON.stringify({ script }) }] },
      tools: [
        {
          type: 'http',
          name: 'order_status',
          description: 'Where an order is.',
          parameters: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
          http,
        },
        { type: 'http', name: 'inside', description: 'No.', http: { url: 'http://169.254.169.254/latest' } },
        { type: 'hang_up', name: 'end_call', description: 'Not in chats.' },
      ],
    },
  })
  t.equal(made.status, 201)
  const ask = async (message: string) => {
    const body = { agent_id: made.body.agent_id, message, dynamic_variables: { customer: 'c 7' } }
    const answer = await client.post('/chats/interaction', { body })
    t.equal(answer.status, 200, answer.text)
    return answer.body.response
  }
  const attempt = (tool: object, more: object = {}) =>
    client.post(`/agents/${made.body.agent_id}/tools/try`, { body: { tool, ...more } })
  const [stored] = made.body.tools
  t.match((await attempt(stored, { arguments: { id: 'T1' }, dynamic_variables: { customer: 'me' } })).body, {
    ok: true,
    output: 'shipped',
    fault: null,
    duration_ms: Number,
  })
  t.same(seen.splice(0), [{ url: '/me/T1', authorization: 'Bearer s3cret' }], 'a mask stands for the stored value')
  t.match((await attempt(stored, { arguments: { id: 3 } })).body, { ok: false, fault: /Wrong arguments/ })
  t.match((await attempt(made.body.tools[1])).body, { ok: false, output: /could not be reached/ })
  const extra = { arguments: { id: 'T1', customer: 'VICTIM' }, dynamic_variables: { customer: 'me' } }
  t.match((await attempt(stored, extra)).body, {
    ok: false,
    fault: 'Wrong arguments: the tool has no parameter "customer"',
  })
  const open = { ...stored, parameters: { ...stored.parameters, additionalProperties: true } }
  t.match((await attempt(open, extra)).body, { ok: true })
  t.match(seen.splice(0), [{ url: '/me/T1' }], 'a variable of the call, whatever else is given')
  const elsewhere = { ...stored, http: { ...stored.http, url: 'http://attacker.example/' } }
  t.match(await attempt(elsewhere), {
    status: 422,
    body: { detail: [{ loc: ['body', 'tool', 'http', 'headers', 'Authorization'] }] },
  })
  t.match(await attempt(made.body.tools[2]), { status: 422, body: { detail: [{ loc: ['body', 'tool', 'type'] }] } })
  t.same(seen, [], 'nothing else was sent')
  t.equal(await ask('Where?'), 'It is shipped.')
  t.same(seen, [{ url: '/c%207/A1', authorization: 'Bearer s3cret' }])
  t.equal(await ask('Inside?'), 'The request failed: the server could not be reached')
  t.match(await ask('Wrong?'), /^Wrong arguments: .*id/)
})

t.test('a model that calls tools for ever is stopped after ten rounds', async (t) => {
  const mod = `import { definePlugin } from '@patchbay/plugin'
let rounds = 0
export default definePlugin({ llm: () => ({ async *chat({ messages, tools }) {
  const { content } = messages.findLast(({ role }) => role === 'user')
  if (tools.length === 0 && content === 'Say it.') yield { type: 'text', text: 'Enough.' }
  yield { type: 'tool_call', id: String(++rounds), name: 'again', arguments: '{}' }
} }) })
`
  const dataDir = t.testdir({})
  await installPlugin(dataDir, 'caller', { provides: { llm: { models: ['m'] } }, mod })
  let asked = 0
  const server = createServer((_request, response) => {
    asked++
    response.end('again')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const api = await startTestApi(t, {
    env: { PATCHBAY_TOOLS_ALLOW_NET: `localhost:${port}`, PATCHBAY_DATA_DIR: dataDir },
  })
  const { client } = await api.signUp()
  const tool = { type: 'http', name: 'again', description: 'Again.', http: { url: `http://localhost:${port}/` } }
  const body = { agent_name: 'A', system_prompt: 'Be kind.', LLM_provider: 'caller', tools: [tool] }
  const { agent_id } = (await client.post('/agents', { body })).body
  const said = await client.post('/chats/interaction', { body: { agent_id, message: 'Say it.' } })
  t.match(said, { status: 200, body: { response: 'Enough.' } }, said.text)
  t.equal(asked, 10)
  const silent = await client.post('/chats/interaction', { body: { agent_id, message: 'Never.' } })
  t.match(silent.text, /called tools 10 times, and again where it was to answer without them/)
  t.equal(asked, 20)
})

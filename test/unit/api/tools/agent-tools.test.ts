import t from 'tap'
import { startTestApi } from '../../../support/instance/api.ts'

const HTTP = {
  type: 'http',
  name: 'order_status',
  description: 'Where an order is.',
  parameters: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
  http: { url: 'https://api.example.com/orders/{{id}}', headers: { Authorization: 'Bearer s3cret' } },
}
const agent = { agent_name: 'A', system_prompt: 'Be kind.' }

t.test('secrets of tools are stored sealed and never shown', async (t) => {
  const api = await startTestApi(t)
  const { client, workspaceId } = await api.signUp()
  const made = await client.post('/agents', { body: { ...agent, tools: [HTTP] } })
  t.equal(made.status, 201)
  t.match(made.body.tools, [{ name: 'order_status', http: { method: 'GET', headers: { Authorization: '********' } } }])
  const path = `/agents/${made.body.agent_id}`
  for (const { text } of [made, await client.get(path), await client.get('/agents')]) t.notMatch(text, 's3cret')
  const stored = async () => {
    const row = await api.store.tenant(workspaceId).db.selectFrom('agents').select('tools').executeTakeFirstOrThrow()
    return JSON.stringify(row.tools)
  }
  const sealed = await stored()
  t.notMatch(sealed, 's3cret')
  t.match(sealed, /"Authorization":"v1\./)

  const kept = await client.put(path, { body: { tools: made.body.tools } })
  t.equal(kept.status, 200)
  t.equal(await stored(), sealed, 'a mask keeps the value')
  t.equal((await client.put(path, { body: { temperature: 0.1 } })).status, 200)
  t.equal(await stored(), sealed, 'a change of something else too')

  const [tool] = made.body.tools
  const stolen = { ...tool, http: { ...tool.http, url: 'https://attacker.example/{{id}}' } }
  const refused = await client.put(path, { body: { tools: [stolen] } })
  t.equal(refused.status, 422)
  t.match(refused.body.detail, [{ loc: ['body', 'tools', '0', 'http', 'headers', 'Authorization'] }])
})

t.test('each fault of a tool is named where it is', async (t) => {
  const api = await startTestApi(t)
  const { client } = await api.signUp()
  const faultsOf = async (...tools: unknown[]) => {
    const { status, body } = await client.post('/agents', { body: { ...agent, tools } })
    t.equal(status, 422)
    return body.detail.map(({ loc, type }: { loc: string[]; type: string }) => `${loc.slice(2).join('.')} ${type}`)
  }
  const http = (change: object) => ({ ...HTTP, http: { ...HTTP.http, ...change } })
  t.same(await faultsOf({ type: 'http', name: 'x', description: 'd' }), ['0.http missing'])
  t.same(await faultsOf({ type: 'fly', name: 'x', description: 'd' }), ['0.type enum'])
  t.same(await faultsOf({ type: 'transfer', name: 'x', description: 'd' }), ['0.to missing'])
  t.same(await faultsOf({ type: 'transfer', name: 'x', description: 'd', to: 'no one there' }), ['0.to value_error'])
  t.same(await faultsOf(HTTP, HTTP), ['1.name value_error'])
  t.same(await faultsOf({ ...HTTP, name: 'two words' }), ['0.name value_error'])
  t.same(await faultsOf({ ...HTTP, parameters: { type: 'string' } }), ['0.parameters value_error'])
  t.same(await faultsOf({ ...HTTP, parameters: { type: 'object', properties: { a: 1 } } }), [
    '0.parameters value_error',
  ])
  for (const url of ['ftp://a.example/', 'https://{{host}}/', 'https://user:pw@a.example/', 'no url', 'https://']) {
    t.same(await faultsOf(http({ url })), ['0.http.url value_error'], url)
  }
  t.same(await faultsOf(http({ headers: { Host: 'x' } })), ['0.http.headers.Host value_error'])
  t.same(await faultsOf(http({ headers: { 'X-A': 'a\r\nb' } })), ['0.http.headers.X-A value_error'])
  t.same(await faultsOf(http({ headers: { 'X-A': '********' } })), ['0.http.headers.X-A value_error'])
  t.same(await faultsOf(http({ timeout_ms: 60_000 })), ['0.http.timeout_ms less_than_equal'])
})

t.test('fallbacks are checked against the plugins', async (t) => {
  const api = await startTestApi(t)
  const { client } = await api.signUp()
  const fallbacks = {
    LLM: [{ provider: 'sim', model: 'default' }],
    TTS: [{ provider: 'offline', voice: 'en-us' }],
  }
  const made = await client.post('/agents', { body: { ...agent, fallbacks } })
  t.equal(made.status, 201)
  t.same(made.body.fallbacks, fallbacks)
  const bad = { LLM: [{ provider: 'nobody', model: 'x' }], TTS: [{ provider: 'offline', voice: 'nobody' }] }
  const { status, body } = await client.put(`/agents/${made.body.agent_id}`, { body: { fallbacks: bad } })
  t.equal(status, 422)
  t.same(
    body.detail.map(({ loc }: { loc: string[] }) => loc.join('.')),
    ['body.fallbacks.LLM.0.provider', 'body.fallbacks.TTS.0.voice'],
  )
})

import { createConfig, lintFromString } from '@redocly/openapi-core'
import t from 'tap'
import { buildClient } from '../../../support/browser/browser.ts'
import { startTestApi } from '../../../support/instance/api.ts'

const PAGE = 'https://shop.example.com'
const PROMPT = 'Be brief.'

t.test('public agents', async (t) => {
  const api = await startTestApi(t)
  const user = await api.signUp()
  const make = async (access: Record<string, unknown> | null) =>
    (await user.client.post('/agents', { body: { agent_name: 'Shop <b>', system_prompt: PROMPT, public: access } }))
      .body
  const ask = (agentId: string, origin: string | null = PAGE) =>
    api.client().post(`/public/agents/${agentId}/session`, { headers: origin === null ? {} : { origin } })

  t.test('give a session to the pages they name, without a key', async (t) => {
    const { agent_id, public: access } = await make({ origins: [PAGE] })
    t.match(access, { origins: [PAGE], max_calls: 5, per_address_per_hour: 20 })
    const answer = await ask(agent_id)
    t.equal(answer.status, 201)
    t.equal(answer.headers.get('access-control-allow-origin'), '*')
    t.match(answer.body, { agent_id, agent_name: 'Shop <b>', language: 'en', realtime_url: /\/realtime\?token=/ })
    t.match((await user.client.get(`/calls/${answer.body.call_log_id}`)).body, { status: 'queued', call_type: 'web' })
    t.equal((await ask(agent_id, new URL(api.url).origin)).status, 201, 'and to this server’s own')
    const refused = await ask(agent_id, 'https://evil.example.com')
    t.equal(refused.status, 403)
    t.match(refused.body.detail, 'must name https://evil.example.com')
    t.equal(refused.headers.get('access-control-allow-origin'), '*', 'a page may read why')
    t.equal((await ask(agent_id, null)).status, 403)
    const { agent_id: anybody } = await make({ origins: ['*'] })
    t.equal((await ask(anybody, 'https://evil.example.com')).status, 201)
  })

  t.test('are no agents to strangers while they are not public', async (t) => {
    const { agent_id } = await make(null)
    t.equal((await ask(agent_id)).status, 404)
    t.equal((await api.client().get(`/talk/${agent_id}`)).status, 404)
    await user.client.put(`/agents/${agent_id}`, { body: { public: { origins: [PAGE] } } })
    t.equal((await ask(agent_id)).status, 201)
    await user.client.put(`/agents/${agent_id}`, { body: { agent_name: 'Other' } })
    t.equal((await ask(agent_id)).status, 201, 'a change of something else changes nothing')
    await user.client.put(`/agents/${agent_id}`, { body: { public: null } })
    t.equal((await ask(agent_id)).status, 404)
  })

  t.test('have so many calls at once, however many ask in the same moment', async (t) => {
    const { agent_id } = await make({ origins: [PAGE], max_calls: 3, per_address_per_hour: 1_000 })
    const answers = await Promise.all(Array.from({ length: 30 }, () => ask(agent_id)))
    t.equal(answers.filter(({ status }) => status === 201).length, 3)
    const full = answers.find(({ status }) => status === 429)
    t.match(full?.body.detail, 'as many calls')
    t.equal(full?.headers.get('retry-after'), '10')
  })

  t.test('open so many sessions an hour for one address', async (t) => {
    const { agent_id } = await make({ origins: [PAGE], max_calls: 1_000, per_address_per_hour: 4 })
    const statuses: number[] = []
    for (let i = 0; i < 6; i++) statuses.push((await ask(agent_id)).status)
    t.same(statuses, [201, 201, 201, 201, 429, 429])
    const refused = await ask(agent_id)
    t.ok(Number(refused.headers.get('retry-after')) > 3_000)
    const { agent_id: another } = await make({ origins: [PAGE] })
    t.equal((await ask(another)).status, 201, 'of that agent alone')
  })

  t.test('show pages their name and the look they were given, before a call', async (t) => {
    const avatar = 'data:image/webp;base64,UklGRg=='
    const { agent_id, public: access } = await make({
      origins: [],
      look: { color: '#7A2e8E', avatar, greeting: 'Hi!' },
    })
    const look = { color: '#7A2e8E', avatar, greeting: 'Hi!', corner: 'bottom_right', theme: 'auto' }
    t.same(access.look, look)
    const shown = await api.client().get(`/public/agents/${agent_id}`, { headers: { origin: PAGE } })
    t.same(shown.body, { agent_id, agent_name: 'Shop <b>', language: 'en', look })
    t.equal(shown.headers.get('access-control-allow-origin'), '*')
    t.match((await api.client().get(`/talk/${agent_id}`)).text, '--tint: #7A2e8E')
    const { agent_id: plain, public: plainAccess } = await make({ origins: [] })
    t.same(plainAccess.look, { color: null, avatar: null, greeting: '', corner: 'bottom_right', theme: 'auto' })
    t.same((await api.client().get(`/public/agents/${plain}`)).body.look, plainAccess.look)
    const { agent_id: closed } = await make(null)
    const refused = await api.client().get(`/public/agents/${closed}`)
    t.equal(refused.status, 404, 'the name of others is nobody’s')
    t.equal(refused.headers.get('access-control-allow-origin'), '*')
  })

  t.test('take a look of colours and small pictures alone', async (t) => {
    for (const [field, value] of [
      ['color', 'red; background: url(//evil.example.com)'],
      ['avatar', 'https://example.com/me.png'],
      ['avatar', 'data:image/svg+xml;base64,PHN2Zz4='],
      ['avatar', `data:image/png;base64,${'A'.repeat(20_000)}`],
      ['corner', 'middle'],
      ['theme', 'pink'],
      ['greeting', 'x'.repeat(301)],
    ] as const) {
      const { status, body } = await user.client.post('/agents', {
        body: { agent_name: 'x', system_prompt: PROMPT, public: { origins: [], look: { [field]: value } } },
      })
      t.equal(status, 422, `${field}: ${value.slice(0, 40)}`)
      t.match(body.detail, [{ loc: ['body', 'public', 'look', field] }])
    }
  })

  t.test('take origins alone as origins', async (t) => {
    for (const origin of ['example.com', 'https://example.com/shop', 'ftp://example.com', 'https://*.example.com']) {
      const { status, body } = await user.client.post('/agents', {
        body: { agent_name: 'x', system_prompt: PROMPT, public: { origins: [origin] } },
      })
      t.equal(status, 422, origin)
      t.match(body.detail, [{ loc: ['body', 'public', 'origins', '0'], msg: /must be an origin/ }])
    }
  })

  t.test('are talked to on a page of this server, whose policy is strict', async (t) => {
    const { agent_id } = await make({ origins: [] })
    const { status, text, headers } = await api.client().get(`/talk/${agent_id}`)
    t.equal(status, 200)
    t.match(text, '<title>Shop &#60;b&#62;</title>')
    t.notMatch(text, '<b>')
    t.match(headers.get('content-security-policy'), "script-src 'self';")
    t.match(text, '<html lang="en">')
    t.equal((await api.client().get('/talk/rubbish')).status, 404)
    const follows = await user.client.put(`/agents/${agent_id}`, { body: { language: 'multi' } })
    t.equal(follows.status, 200, follows.text)
    t.match(
      (await api.client().get(`/talk/${agent_id}`)).text,
      ' inline lang="">',
      'the widget speaks as the browser does',
    )
  })
})

t.test('the client library is served to pages of any origin', async (t) => {
  buildClient()
  const api = await startTestApi(t)
  for (const path of ['/widget.js', '/client/v1/patchbay.js', '/client/v1/worklet.js']) {
    const { status, headers } = await api.client().get(path)
    t.equal(status, 200, path)
    t.match(headers.get('content-type'), 'text/javascript')
    t.equal(headers.get('access-control-allow-origin'), '*')
    t.match(headers.get('cache-control'), 'max-age=')
  }
  t.equal((await api.client().get('/client/v1/package.json')).status, 404)
})

t.test('the realtime protocol is a valid AsyncAPI 3.0 document of the messages there are', async (t) => {
  const api = await startTestApi(t)
  const { text, body } = await api.client().get('/asyncapi.json')
  const config = await createConfig({ rules: { struct: 'error', 'no-unresolved-refs': 'error' } })
  const problems = await lintFromString({ source: text, absoluteRef: 'asyncapi.json', config })
  t.same(
    problems.map(({ message, location }) => [message, location[0]?.pointer]),
    [],
  )
  t.equal(body.asyncapi, '3.0.0')
  t.match(body.components.messages.sessionStarted, {
    name: 'session.started',
    payload: { properties: { call_log_id: {} } },
  })
  t.match(body.components.messages.dtmf.payload.properties.digit, { pattern: '^[0-9A-D*#]$' })
})

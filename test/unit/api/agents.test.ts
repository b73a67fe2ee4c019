import t from 'tap'
import { uuidv7 } from 'uuidv7'
import { startTestApi } from '../../support/instance/api.ts'

const BYE = { type: 'hang_up', name: 'end_call', description: 'Ends the call.' }
const AGENT = { agent_name: 'Reception', system_prompt: 'You answer the phone.' }

t.test('an agent is made with defaults, read, changed in part and deleted', async (t) => {
  const api = await startTestApi(t)
  const ada = await api.signUp()
  const made = await ada.client.post('/agents', { body: { ...AGENT, unknown_field: 1 } })
  t.equal(made.status, 201)
  t.match(made.body, {
    ...AGENT,
    workspace_id: ada.workspaceId,
    LLM_provider: 'offline',
    TTS_provider: 'offline',
    TTS_voice: 'en-us',
    first_message: '',
    temperature: 0.7,
    tools: [],
    phone_numbers: [],
    documents: 0,
  })
  t.notOk('unknown_field' in made.body)
  const at = `/agents/${made.body.agent_id}`
  t.same((await ada.client.get(at)).body, made.body)
  t.same((await ada.client.get('/agents')).body, [made.body])

  const changed = await ada.client.put(at, { body: { temperature: 0, first_message: 'Hi', tools: [BYE] } })
  t.equal(changed.status, 200)
  t.match(changed.body, { ...AGENT, temperature: 0, first_message: 'Hi', tools: [BYE] })
  t.ok(changed.body.updated_at > made.body.updated_at)
  t.equal((await ada.client.put(at, { body: {} })).status, 200)

  const deleted = await ada.client.delete(at)
  t.same([deleted.status, deleted.body], [200, { detail: 'Agent deleted' }])
  t.same((await ada.client.get(at)).body, { detail: 'Agent not found' })
})

t.test('what an agent may not be is said field by field', async (t) => {
  const api = await startTestApi(t)
  const { client } = await api.signUp()
  const faults = async (body: unknown) => {
    const answer = await client.post('/agents', { body })
    t.equal(answer.status, 422)
    return answer.body.detail.map(({ loc, type }: { loc: string[]; type: string }) => `${loc.join('.')} ${type}`)
  }
  t.same(await faults({}), ['body.agent_name missing', 'body.system_prompt missing'])
  t.same(await faults([]), ['body dict_type'])
  t.same(await faults({ ...AGENT, temperature: 2.1 }), ['body.temperature less_than_equal'])
  t.same(await faults({ ...AGENT, temperature: -1, tools: {} }), [
    'body.temperature greater_than_equal',
    'body.tools list_type',
  ])
  t.same(await faults({ ...AGENT, temperature: 'hot' }), ['body.temperature float_type'])
  t.same(await faults({ ...AGENT, agent_name: null }), ['body.agent_name string_type'])
  t.same(await faults({ ...AGENT, LLM_provider: 'nobody', STT_provider: 'nobody' }), [
    'body.LLM_provider enum',
    'body.STT_provider enum',
  ])
  t.same(await faults({ ...AGENT, LLM_model: 'nothing', TTS_voice: 'nobody' }), [
    'body.LLM_model enum',
    'body.TTS_voice enum',
  ])
  t.same(await faults({ ...AGENT, agent_name: 'a\0b' }), ['body.agent_name value_error'])
  t.same(await faults(`{"agent_name":"\\ud800","system_prompt":"x"}`), ['body.agent_name value_error'])
  const named = await client.post('/agents', { body: { ...AGENT, LLM_provider: 'nobody' } })
  t.match(named.body.detail[0].msg, /"offline"/)
  t.same((await client.get('/agents')).body, [], 'nothing was stored')

  const { body: agent } = await client.post('/agents', { body: AGENT })
  const changed = await client.put(`/agents/${agent.agent_id}`, { body: { LLM_model: 'nothing' } })
  t.same([changed.status, changed.body.detail[0].type], [422, 'enum'])
})

t.test('one answer tells the faults of shape, of providers, of languages and of tools', async (t) => {
  const api = await startTestApi(t)
  const { client } = await api.signUp()
  const faultsOf = (answer: { status: number; body: { detail: { loc: string[] }[] } }) => {
    t.equal(answer.status, 422)
    return answer.body.detail.map(({ loc }) => loc.slice(1).join('.')).sort()
  }
  const bad = {
    LLM_provider: 'nope',
    temperature: 9,
    language: 'xx-',
    fallbacks: { STT: [{ provider: 'nope', model: 'm' }] },
    tools: [
      { type: 'http', name: 'a', description: 'd' },
      { type: 'transfer', name: 'b', description: 'd', to: '??' },
    ],
  }
  const said = ['LLM_provider', 'fallbacks.STT.0.provider', 'language', 'temperature', 'tools.0.http', 'tools.1.to']
  t.same(faultsOf(await client.post('/agents', { body: { ...AGENT, ...bad } })), said)
  t.same(faultsOf(await client.post('/agents', { body: { ...AGENT, ...bad, temperature: 1, language: 'en' } })), [
    'LLM_provider',
    'fallbacks.STT.0.provider',
    'tools.0.http',
    'tools.1.to',
  ])
  const { body: agent } = await client.post('/agents', { body: AGENT })
  t.same(faultsOf(await client.put(`/agents/${agent.agent_id}`, { body: bad })), said)
  t.same(faultsOf(await client.post('/agents', { body: { agent_name: ' ', temperature: 9 } })), [
    'agent_name',
    'system_prompt',
    'temperature',
  ])
})

t.test('what is wrong with a change comes before whose agent it is', async (t) => {
  const api = await startTestApi(t)
  const { client } = await api.signUp()
  for (const id of [uuidv7(), 'nobody']) {
    const wrong = await client.put(`/agents/${id}`, { body: { LLM_provider: 'nope' } })
    t.match([wrong.status, wrong.body.detail], [422, [{ loc: ['body', 'LLM_provider'], type: 'enum' }]], id)
    const right = await client.put(`/agents/${id}`, { body: { LLM_provider: 'offline' } })
    t.same([right.status, right.body], [404, { detail: 'Agent not found' }], id)
  }
})

t.test('lists come as pages when a page is asked for', async (t) => {
  const api = await startTestApi(t)
  const { client, workspaceId } = await api.signUp()
  const ids: string[] = []
  for (let i = 0; i < 3; i++) ids.push((await client.post('/agents', { body: AGENT })).body.agent_id)
  const page = await client.get('/agents?page=2&page_size=2')
  t.match(page.body, { items: [{ agent_id: ids[2] }], total: 3, page: 2, page_size: 2, total_pages: 2 })
  t.match((await client.get('/agents?page=1')).body, { total: 3, page: 1, page_size: 25, total_pages: 1 })
  t.match((await client.get('/agents?page=9&page_size=2')).body, { items: [], total: 3, page: 9 })
  for (const path of ['/workspaces', `/workspaces/${workspaceId}/members`]) {
    t.match((await client.get(`${path}?page_size=1`)).body, { items: [{}], total: 1, page: 1, page_size: 1 }, path)
  }
  t.match((await client.get('/api-keys?page=1')).body, { items: [], total: 0, total_pages: 0 })
  for (const path of ['/agents', '/workspaces', '/api-keys', `/workspaces/${workspaceId}/members`]) {
    t.equal((await client.get(`${path}?page_size=201`)).status, 422, path)
    t.equal((await client.get(`${path}?page=0`)).status, 422, path)
  }
})

t.test('roles, keys and other workspaces see what they should', async (t) => {
  const api = await startTestApi(t)
  const ada = await api.signUp()
  const stranger = await api.signUp()
  const key = await api.keyClient(ada)
  const member = await api.member(ada, 'member')
  const developer = await api.member(ada, 'developer')
  const { body: agent } = await developer.client.post('/agents', { body: AGENT })
  const at = `/agents/${agent.agent_id}`
  for (const client of [key, member.client, developer.client, ada.client]) {
    t.equal((await client.get(at)).status, 200)
    t.equal((await client.get('/agents')).body.length, 1)
  }
  for (const answer of [
    await member.client.post('/agents', { body: AGENT }),
    await member.client.put(at, { body: {} }),
  ]) {
    t.same([answer.status, answer.body], [403, { detail: 'Insufficient permissions' }])
  }
  for (const { client } of [member, developer]) {
    const answer = await client.delete(at)
    t.same([answer.status, answer.body], [403, { detail: 'Admin access required' }])
  }
  for (const answer of [
    await key.post('/agents', { body: AGENT }),
    await key.put(at, { body: {} }),
    await key.delete(at),
  ]) {
    t.same([answer.status, answer.body], [401, { detail: 'Invalid or missing token' }])
  }
  t.same((await stranger.client.get('/agents')).body, [])
  for (const answer of [
    await stranger.client.get(at),
    await stranger.client.put(at, { body: {} }),
    await stranger.client.delete(at),
    await ada.client.get(`/agents/${uuidv7()}`),
    await ada.client.get('/agents/garbage'),
    await ada.client.get('/agents/%00'),
    await ada.client.put('/agents/garbage', { body: {} }),
  ]) {
    t.same([answer.status, answer.body], [404, { detail: 'Agent not found' }])
  }
  t.equal((await ada.client.put('/agents/garbage', { body: { temperature: 9 } })).status, 422, '422 comes before 404')
  for (const path of ['/agents', at]) {
    const anonymous = await api.client().get(path)
    t.same([anonymous.status, anonymous.body], [401, { detail: 'Invalid or missing token' }])
    const wrongKey = await api.client().get(path, { headers: { 'x-api-key': 'pb_wrong' } })
    t.same([wrongKey.status, wrongKey.body], [401, { detail: 'Invalid API key' }])
  }
})

t.test('an agent listens and speaks as its fields say', async (t) => {
  const api = await startTestApi(t)
  const { client } = await api.signUp()
  const { body: plain } = await client.post('/agents', { body: AGENT })
  t.match(plain, {
    language: 'en',
    TTS_voice: 'en-us',
    interruption: { enabled: true, sensitivity: 'normal' },
    endpointing: 'balanced',
    dead_air: { enabled: true, phrases: [] },
    max_duration_s: null,
    idle_timeout_s: null,
    keyterms: [],
    transcribe: 'own',
    pronunciation: [],
    ai_disclosure: 'auto',
    register: 'formal',
    phrases: {},
    warnings: [],
  })
  const speech = {
    language: 'de-AT',
    interruption: { enabled: false, sensitivity: 'low' },
    endpointing: 'patient',
    dead_air: { enabled: true, phrases: ['Ich sehe nach.'] },
    max_duration_s: 600,
    idle_timeout_s: 20,
    keyterms: ['Lovelace'],
    transcribe: 'model',
    pronunciation: [{ word: 'SQL', say: 'Sequel' }],
    ai_disclosure: 'before',
    register: 'informal',
    phrases: { still_there: 'Hallo?', did_not_catch: 'Wie bitte?' },
  }
  const made = await client.post('/agents', { body: { ...AGENT, ...speech } })
  t.equal(made.status, 201)
  t.match(made.body, { ...speech, TTS_voice: 'de' }, 'with a voice of the language')
  const at = `/agents/${made.body.agent_id}`
  t.match((await client.put(at, { body: { max_duration_s: null } })).body, { ...speech, max_duration_s: null })
  t.match((await client.put(at, { body: { language: 'PT-br' } })).body, { language: 'pt-BR', TTS_voice: 'pt-br' })
  const own = await client.put(at, { body: { language: 'es', TTS_voice: 'es-419' } })
  t.match(own.body, { language: 'es', TTS_voice: 'es-419' })
  t.match((await client.put(at, { body: { language: 'multi' } })).body, { language: 'multi', TTS_voice: 'es-419' })
})

t.test('a language that an agent can’t hear or speak is refused, naming those it can', async (t) => {
  const api = await startTestApi(t)
  const { client } = await api.signUp()
  const faults = async (body: unknown) => {
    const answer = await client.post('/agents', { body: { ...AGENT, ...(body as object) } })
    t.equal(answer.status, 422)
    return answer.body.detail as { loc: string[]; type: string; msg: string }[]
  }
  const [unheard] = await faults({ language: 'sv' })
  t.match(unheard, { loc: ['body', 'language'], type: 'enum' })
  t.match(unheard?.msg, /"multi", "en", "de".*recogniser "default" of "sim" understands no "sv"/)
  const [unspoken] = await faults({ language: 'de', TTS_voice: 'en-us' })
  t.match(unspoken?.msg, /must be one of "en": the voice "en-us" of "offline" speaks no "de"/)
  t.match(await faults({ language: 'de--x' }), [{ loc: ['body', 'language'] }])
  t.match(await faults({ language: 'a1' }), [{ loc: ['body', 'language'] }])
  t.match(await faults({ language: 'de', fallbacks: { TTS: [{ provider: 'offline', voice: 'en-gb' }] } }), [
    { loc: ['body', 'fallbacks', 'TTS', '0', 'voice'], type: 'enum' },
  ])
  const { body: agent } = await client.post('/agents', { body: { ...AGENT, language: 'fr' } })
  const swapped = await client.put(`/agents/${agent.agent_id}`, { body: { TTS_voice: 'en-gb' } })
  t.same([swapped.status, swapped.body.detail[0].loc], [422, ['body', 'language']])
})

t.test('an agent whose texts have names without a value of their own is told which', async (t) => {
  const { client } = await (await startTestApi(t)).signUp()
  const texts = {
    system_prompt: 'It is {{weekday}}. You call for {{company}}.',
    first_message: 'Hello {{first_name|there}}, {{nick}}!',
    procedures: [{ name: 'plan', when: 'w', text: 'Their plan is {{plan}}.' }],
  }
  const { body, text } = await client.post('/agents', { body: { ...AGENT, ...texts } })
  t.match(body.warnings, [/are left out: \{\{company\}\}, \{\{nick\}\}, \{\{plan\}\}\. \{\{company\|…\}\} says/], text)
  const filled = { system_prompt: 'You call for {{company|us}}.', first_message: '', procedures: [] }
  t.same((await client.put(`/agents/${body.agent_id}`, { body: filled })).body.warnings, [])
})

t.test('an agent in a language without sentences is told which it lacks, and takes its own', async (t) => {
  const api = await startTestApi(t)
  const { client, workspaceId } = await api.signUp()
  const { body: agent } = await client.post('/agents', { body: { ...AGENT, phrases: { bye: 'Adeu.' } } })
  await api.store.tenant(workspaceId).db.updateTable('agents').set({ language: 'ca' }).execute()
  const { body: seen } = await client.get(`/agents/${agent.agent_id}`)
  t.match(seen.warnings, [/^Patchbay has no sentences in Catalan \("ca"\).*say_again, did_not_catch/])
  t.notMatch(seen.warnings[0], /\bbye\b/)
  const unknown = await client.put(`/agents/${agent.agent_id}`, { body: { phrases: { hello: 'Bon dia.' } } })
  t.equal(unknown.status, 422)
})

t.test('an agent says what it collects and what it never says, and is told what is wrong with either', async (t) => {
  const api = await startTestApi(t)
  const { client } = await api.signUp()
  t.match((await client.post('/agents', { body: AGENT })).body, { collect: [], guardrails: {} })
  const fields = {
    collect: [
      { name: 'phone', type: 'phone', prompt: 'Which number?' },
      { name: 'card', type: 'digits', secret: true, luhn: true, attempts: 2 },
      { name: 'size', type: 'choice', options: ['small', 'large'] },
    ],
    guardrails: { never: ['guarantee'], patterns: ['\\d+ mg'], grounded: ['money'], max_sentences: 3, language: true },
  }
  const made = await client.post('/agents', { body: { ...AGENT, ...fields } })
  t.equal(made.status, 201)
  t.match(made.body, fields)
  const faults = async (body: object) => {
    const answer = await client.put(`/agents/${made.body.agent_id}`, { body })
    t.equal(answer.status, 422)
    return (answer.body.detail as { loc: string[]; msg: string }[]).map(
      ({ loc, msg }) => `${loc.slice(1).join('.')} ${msg}`,
    )
  }
  t.match(
    await faults({
      collect: [
        { name: 'a', type: 'phone' },
        { name: 'a', type: 'phone' },
      ],
    }),
    [/^collect\.1\.name is used/],
  )
  t.match(await faults({ collect: [{ name: 'today', type: 'date' }] }), [/built-in/])
  t.match(await faults({ collect: [{ name: 'size', type: 'choice' }] }), [/^collect\.0\.options Field required/])
  t.match(await faults({ collect: [{ name: 'pin', type: 'digits', secret: true, spell_back: true }] }), [
    /spell_back must be false/,
  ])
  t.match(await faults({ collect: [{ name: 'pin', type: 'name', length: 4 }] }), [/for the type "digits"/])
  t.match(await faults({ guardrails: { patterns: ['(?=a)b', 'a*'] } }), [/perl operator/, /empty text/])
  const tool = { type: 'http', name: 'collect_phone', description: 'x', http: { url: 'https://example.com' } }
  t.match(await faults({ tools: [tool], collect: [{ name: 'phone', type: 'phone' }] }), [/which the agent has already/])
})

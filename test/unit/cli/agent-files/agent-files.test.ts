import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { runFilesCommand } from '../../../../cli/agent-files/files-command.ts'
import type { FilesCommand } from '../../../../cli/agent-files/files-usage.ts'
import { AGENTS } from '../../../../cli/agent-files/kinds.ts'
import { startTestApi } from '../../../support/instance/api.ts'
import { type Teardown, testFolder } from '../../../support/instance/services.ts'

const api = await startTestApi(t)
const ada = await api.signUp('Ada')
const key = await ada.client.post('/api-keys', {
  body: { name: 'CI', scopes: ['read', 'agents', 'campaigns', 'delete'] },
})
const TOOL = {
  type: 'http',
  name: 'order_status',
  description: 'Looks up where an order is.',
  parameters: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
  http: { url: 'https://api.example.com/orders/{{id}}', headers: { Authorization: 'Bearer secret' } },
}

/** A workspace's folder with the commands that work on it. */
async function folderOf(test: Teardown, apiKey: string = key.body.key) {
  const root = await testFolder(test)
  const path = (name: string): string => join(root, name)
  return {
    root,
    run: (command: FilesCommand, flags: string[] = [], env: Record<string, string> = {}) =>
      runFilesCommand(command, {
        folder: root,
        flags,
        env: { PATCHBAY_URL: api.url, PATCHBAY_API_KEY: apiKey, ...env },
      }),
    read: (name: string) => readFile(path(name), 'utf8'),
    async write(name: string, text: string) {
      await mkdir(join(path(name), '..'), { recursive: true })
      await writeFile(path(name), text)
    },
    async replace(name: string, from: string | RegExp, to: string) {
      const text = await readFile(path(name), 'utf8')
      if (text.replace(from, to) === text) throw new Error(`${name} has no ${from}: ${text}`)
      await writeFile(path(name), text.replace(from, to))
    },
    remove: (name: string) => rm(path(name)),
    /** Every file with its text. */
    async all() {
      const files = await readdir(root, { recursive: true, withFileTypes: true })
      const names = files.filter((file) => file.isFile()).map((file) => join(file.parentPath, file.name))
      return Object.fromEntries(
        await Promise.all(names.sort().map(async (name) => [name, await readFile(name, 'utf8')])),
      )
    },
  }
}

async function makeAgent(fields: Record<string, unknown> = {}) {
  const { body } = await ada.client.post('/agents', {
    body: { agent_name: 'Front desk', system_prompt: 'You are Ava.\n\n- We open at nine.\n', ...fields },
  })
  return body as { agent_id: string; system_prompt: string }
}
const agentOf = async (id: string) => (await ada.client.get(`/agents/${id}`)).body
const refusal = (text: RegExp) => ({ message: text })

async function empty(): Promise<void> {
  for (const { slug } of (await ada.client.get('/api/v/campaign/')).body)
    await ada.client.delete(`/api/v/campaign/${slug}/`)
  for (const { test_id } of (await ada.client.get('/tests')).body) await ada.client.delete(`/tests/${test_id}`)
  for (const { agent_id } of (await ada.client.get('/agents')).body) await ada.client.delete(`/agents/${agent_id}`)
}
t.beforeEach(empty)

t.test('what an agent is made with is what its file may leave out', async (t) => {
  const { agent_id } = await makeAgent()
  const body = await agentOf(agent_id)
  for (const [field, value] of Object.entries(AGENTS.defaults)) t.same(body[field], value, field)
  const provided = /^(LLM|STT|TTS)_(provider|model|voice)$/
  t.same(
    AGENTS.fields.filter((field) => !(field in AGENTS.defaults) && !provided.test(field)),
    ['agent_name', 'system_prompt'],
    'everything else has a default',
  )
})

t.test('pull writes agents and campaigns, and neither a second pull, plan nor apply changes anything', async (t) => {
  const agent = await makeAgent({ tools: [TOOL], temperature: 0.2, language: 'de', keyterms: ['Patchbay'] })
  await makeAgent({ system_prompt: '---\nodd\n---\n\n' })
  const sales = await ada.client.post('/api/v/campaign/', {
    body: { name: 'Renewals', agent_id: agent.agent_id, dupe_days: 30 },
  })
  t.equal(sales.status, 201)
  const folder = await folderOf(t)
  t.match(
    (await folder.run('pull')).text,
    /wrote agents\/front-desk\.md\nwrote agents\/front-desk-2\.md\nwrote campaigns\/renewals\.yaml\nSecrets.*FRONT_DESK_ORDER_STATUS_AUTHORIZATION/,
  )
  t.match(
    await folder.read('agents/front-desk.md'),
    /^---\nagent_name: Front desk\n[\s\S]*\ntemperature: 0\.2\n[\s\S]*Authorization: \$\{FRONT_DESK_ORDER_STATUS_AUTHORIZATION\}[\s\S]*\n---\n\nYou are Ava\.\n\n- We open at nine\.\n\n$/,
  )
  t.notMatch(await folder.read('agents/front-desk.md'), /first_message|agent_id|secret/)
  t.match(await folder.read('campaigns/renewals.yaml'), /name: Renewals\ndupe_days: 30\nagent: front-desk\n/)
  const before = await folder.all()
  const updated = await agentOf(agent.agent_id)
  t.same(await folder.run('plan'), { text: 'No difference', code: 0 })
  t.same(await folder.run('apply'), { text: 'No difference', code: 0 })
  t.same(await folder.run('pull'), { text: 'No file changed', code: 0 })
  t.same(await folder.all(), before)
  t.same(await agentOf(agent.agent_id), updated)
})

t.test('plan prints what changed and exits with 2; apply changes that and nothing else', async (t) => {
  const { agent_id } = await makeAgent({ tools: [TOOL] })
  const folder = await folderOf(t)
  await folder.run('pull')
  await folder.replace(
    'agents/front-desk.md',
    'agent_name: Front desk\n',
    'agent_name: Front desk\n# by hand\ntemperature: 0.1\n',
  )
  await folder.replace('agents/front-desk.md', 'We open at nine.', 'We open at ten.')
  await folder.replace('agents/front-desk.md', 'Looks up where an order is.', 'Says where an order is.')
  const before = await agentOf(agent_id)
  const { text, code } = await folder.run('plan')
  t.equal(code, 2)
  t.match(text, /^~ agents\/front-desk\.md\n/)
  t.match(text, /temperature: 0\.7 → 0\.1/)
  t.match(text, /system_prompt:\n +- - We open at nine\.\n +\+ - We open at ten\./)
  t.match(text, /tools: ~ order_status/)
  t.same(await agentOf(agent_id), before, 'plan changes nothing')
  t.match((await folder.run('apply')).text, /Applied$/)
  const after = await agentOf(agent_id)
  t.match(after, { temperature: 0.1, system_prompt: before.system_prompt.replace('nine', 'ten') })
  t.equal(after.tools[0].description, 'Says where an order is.')
  t.same(await folder.run('plan'), { text: 'No difference', code: 0 })
  await folder.replace('agents/front-desk.md', 'temperature: 0.1\n', '')
  await folder.run('apply')
  t.equal((await agentOf(agent_id)).temperature, 0.7, 'a field that is taken out is as if it had never been there')
  await ada.client.patch(`/agents/${agent_id}`, { body: { temperature: 0.4 } })
  await folder.run('pull')
  t.match(await folder.read('agents/front-desk.md'), /# by hand\n.*temperature: 0\.4/s, 'comments stay')
})

t.test('what changed on the instance meanwhile is never overwritten', async (t) => {
  const { agent_id } = await makeAgent()
  const folder = await folderOf(t)
  await folder.run('pull')
  await ada.client.patch(`/agents/${agent_id}`, { body: { first_message: 'Hello!', temperature: 0.5 } })
  const drift = await folder.run('plan')
  t.match(drift, { code: 2, text: /! first_message was changed on the instance: "Hello!"; pull/ })
  await folder.replace(
    'agents/front-desk.md',
    'agent_name: Front desk\n',
    'agent_name: Front desk\nvoicemail: continue\n',
  )
  await folder.run('apply')
  t.match(await agentOf(agent_id), { first_message: 'Hello!', temperature: 0.5, voicemail: 'continue' })
  t.match((await folder.run('plan')).text, /! temperature/, 'it is still to be pulled')
  await folder.replace('agents/front-desk.md', 'voicemail: continue\n', 'voicemail: continue\ntemperature: 0.1\n')
  await t.rejects(
    folder.run('apply'),
    refusal(/temperature was changed here and on the instance[\s\S]*Nothing was applied/),
  )
  t.equal((await agentOf(agent_id)).temperature, 0.5)
  t.match(
    (await folder.run('pull')).text,
    /! agents\/front-desk\.md:\d+: temperature was changed here and on the instance/,
  )
  t.match(await folder.read('agents/front-desk.md'), /temperature: 0\.1[\s\S]*first_message: Hello!/)
  await t.rejects(folder.run('apply'), refusal(/Nothing was applied/), 'also after the pull')
  await folder.run('pull', ['--replace'])
  t.match(await folder.read('agents/front-desk.md'), /temperature: 0\.5/)
  t.same(await folder.run('plan'), { text: 'No difference', code: 0 })
})

t.test('a change in the moment of applying is not overwritten either', async (t) => {
  const { agent_id } = await makeAgent()
  const folder = await folderOf(t)
  await folder.run('pull')
  await folder.replace('agents/front-desk.md', 'We open at nine.', 'We open at ten.')
  const { fetch } = globalThis
  let patches = 0
  globalThis.fetch = async (input, init) => {
    if (init?.method === 'PATCH' && patches++ === 0)
      await ada.client.patch(`/agents/${agent_id}`, { body: { temperature: 1.5 } })
    return fetch(input, init)
  }
  t.teardown(() => {
    globalThis.fetch = fetch
  })
  await t.rejects(folder.run('apply'), refusal(/somebody changed it on the instance meanwhile/))
  globalThis.fetch = fetch
  t.match(await agentOf(agent_id), { temperature: 1.5, system_prompt: /nine/ })
})

t.test('new files make agents and campaigns, in whatever order they name each other', async (t) => {
  const folder = await folderOf(t)
  await folder.write('agents/ava.md', '---\nagent_name: Ava\nLLM_provider: offline\n---\n\nYou are Ava.\n')
  await folder.write('campaigns/spring.yaml', 'name: Spring\nagent: ava\nmax_number_calls: 3\n')
  const planned = await folder.run('plan')
  t.same(planned, { text: '+ agents/ava.md\n+ campaigns/spring.yaml', code: 2 })
  t.same((await ada.client.get('/agents')).body, [])
  await folder.run('apply')
  const [agent] = (await ada.client.get('/agents')).body
  t.match(agent, { agent_name: 'Ava', system_prompt: 'You are Ava.', LLM_provider: 'offline' })
  t.match((await ada.client.get('/api/v/campaign/spring/')).body, {
    agent_id: agent.agent_id,
    max_number_calls: 3,
    name: 'Spring',
  })
  t.same(await folder.run('apply'), { text: 'No difference', code: 0 })
  await folder.write('campaigns/autumn.yaml', 'name: Autumn\nagent: avva\n')
  await t.rejects(folder.run('plan'), refusal(/campaigns\/autumn\.yaml: there is no file agents\/avva\.md/))
})

t.test('an agent whose file is gone is deleted when that is asked for', async (t) => {
  const { agent_id } = await makeAgent()
  const folder = await folderOf(t)
  await folder.run('pull')
  await folder.remove('agents/front-desk.md')
  t.match(await folder.run('plan'), {
    code: 2,
    text: /- agents\/front-desk\.md is gone; the agent stays without --delete/,
  })
  await folder.run('apply')
  t.equal((await ada.client.get(`/agents/${agent_id}`)).status, 200)
  await folder.run('apply', ['--delete'])
  t.equal((await ada.client.get(`/agents/${agent_id}`)).status, 404)
  t.same(await folder.run('plan'), { text: 'No difference', code: 0 })
})

t.test('of an agent that publishes by hand a draft is changed, and published where that is asked for', async (t) => {
  const { agent_id } = await makeAgent({ publishing: 'manual' })
  const folder = await folderOf(t)
  await folder.run('pull')
  const versions = async () => (await ada.client.get(`/agents/${agent_id}/versions`)).body.items
  const before = (await versions()).length
  await folder.replace('agents/front-desk.md', 'nine', 'ten')
  await folder.run('apply')
  t.equal((await versions()).length, before)
  await folder.replace('agents/front-desk.md', 'ten', 'eleven')
  await folder.run('apply', ['--publish=Opens at eleven'])
  const [newest, ...older] = await versions()
  t.match(newest, { note: 'Opens at eleven' })
  t.equal(older.length, before)
  t.same(await folder.run('plan'), { text: 'No difference', code: 0 })
})

t.test('a secret is a name: one that is needed and missing is named, and none is ever written', async (t) => {
  const folder = await folderOf(t)
  const file = (secret: string) =>
    `---\nagent_name: Ava\ntools:\n  - ${JSON.stringify({ ...TOOL, http: { ...TOOL.http, headers: { Authorization: `Bearer \${${secret}_KEY}` } } })}\n---\n\nYou are Ava.\n`
  await folder.write('agents/ava.md', file('CRM'))
  for (const command of ['plan', 'apply'] as const) {
    await t.rejects(
      folder.run(command),
      refusal(/agents\/ava\.md: CRM_KEY is not set: the header of "order_status Authorization"/),
    )
  }
  await folder.run('apply', [], { CRM_KEY: 'top-secret' })
  t.notMatch(JSON.stringify(await folder.all()), /top-secret/)
  t.same(await folder.run('apply'), { text: 'No difference', code: 0 }, 'without the secret, for it is not sent')
  await t.rejects(folder.run('apply', ['--secrets']), refusal(/CRM_KEY is not set/))
  t.match((await folder.run('apply', ['--secrets'], { CRM_KEY: 'other' })).text, /Applied/)
  await folder.write('agents/ava.md', file('NEW'))
  await t.rejects(folder.run('plan'), refusal(/NEW_KEY is not set/))
  await folder.write('agents/ava.md', file('CRM').replace('api.example.com', 'evil.example.com'))
  await t.rejects(folder.run('plan'), refusal(/CRM_KEY is not set/), 'a stored secret goes to no other address')
})

t.test('documents are named in the file, and sent when their bytes change', async (t) => {
  const folder = await folderOf(t)
  await folder.write('agents/ava.md', '---\nagent_name: Ava\ndocuments: [hours.md]\n---\n\nYou are Ava.\n')
  await t.rejects(
    folder.run('plan'),
    refusal(/the document "hours\.md" is neither in documents\/ava\/hours\.md nor on the instance/),
  )
  await folder.write('documents/ava/hours.md', 'We open at nine.')
  await folder.run('apply')
  const [{ agent_id }] = (await ada.client.get('/agents')).body
  const names = async () =>
    (await ada.client.get(`/agents/${agent_id}/documents`)).body.map(({ filename }: { filename: string }) => filename)
  t.same(await names(), ['hours.md'])
  t.same(await folder.run('plan'), { text: 'No difference', code: 0 })
  await folder.write('documents/ava/hours.md', 'We open at nine!')
  t.match(await folder.run('plan'), { code: 2, text: /~ document hours\.md/ })
  await folder.run('apply')
  t.same(await names(), ['hours.md'])
  t.same(await folder.run('plan'), { text: 'No difference', code: 0 })
  const form = new FormData()
  form.append('files', new Blob(['Parking is free.']), 'parking.md')
  await ada.client.post(`/agents/${agent_id}/upload`, { form })
  t.match((await folder.run('plan')).text, /! document parking\.md was added on the instance: pull/)
  await folder.run('pull')
  t.match(await folder.read('agents/ava.md'), /documents:\n {2}- hours\.md\n {2}- parking\.md/)
  t.same(await folder.run('plan'), { text: 'No difference', code: 0 })
  await folder.replace('agents/ava.md', '  - hours.md\n', '')
  t.match((await folder.run('plan')).text, /- document hours\.md/)
  await folder.run('apply')
  t.same(await names(), ['parking.md'])
})

const HOURS = 'name: says when it opens\ncaller: { say: [When do you open?] }\nexpect: [{ heard: nine }]\n'
const testsThere = async () => (await ada.client.get('/tests')).body

t.test('stored tests are files: of an agent in its folder, of any agent beside them', async (t) => {
  const { agent_id } = await makeAgent()
  await ada.client.post('/tests', { body: { agent_id, yaml: `# by hand\n${HOURS}` } })
  await ada.client.post('/tests', {
    body: { definition: { name: 'Says goodbye!', caller: { say: ['Bye.'] }, expect: [{ ended_by: 'caller' }] } },
  })
  const folder = await folderOf(t)
  t.match(
    (await folder.run('pull')).text,
    /wrote tests\/front-desk\/says-when-it-opens\.yaml\nwrote tests\/says-goodbye\.yaml/,
  )
  t.equal(await folder.read('tests/front-desk/says-when-it-opens.yaml'), `# by hand\n${HOURS}`, 'as it was written')
  t.match(await folder.read('tests/says-goodbye.yaml'), /^name: Says goodbye!\ncaller:\n {2}say:\n {4}- Bye\.\nexpect:/)
  const before = await folder.all()
  for (const command of ['plan', 'apply'] as const)
    t.same(await folder.run(command), { text: 'No difference', code: 0 })
  t.same(await folder.run('pull'), { text: 'No file changed', code: 0 })
  t.same(await folder.all(), before)
})

t.test('a changed, a new and a removed file of a test change, make and delete its row', async (t) => {
  const folder = await folderOf(t)
  await folder.write('agents/ava.md', '---\nagent_name: Ava\n---\n\nWe open at nine.\n')
  await folder.write('tests/ava/hours.yaml', HOURS)
  await folder.write('tests/hours.yaml', HOURS)
  t.match((await folder.run('plan')).text, /\+ tests\/ava\/hours\.yaml\n\+ tests\/hours\.yaml/)
  t.match((await folder.run('apply')).text, /Applied$/)
  const [agent] = (await ada.client.get('/agents')).body
  t.match(await testsThere(), [
    { agent_id: agent.agent_id, name: 'says when it opens', yaml: HOURS },
    { agent_id: null, yaml: HOURS },
  ])
  t.same(await folder.run('plan'), { text: 'No difference', code: 0 })
  await folder.replace('tests/ava/hours.yaml', 'nine }]', 'ten }] # later in winter')
  await folder.replace('tests/ava/hours.yaml', 'expect:', 'tags: [hours]\nexpect:')
  const { text, code } = await folder.run('plan')
  t.equal(code, 2)
  t.match(text, /^~ tests\/ava\/hours\.yaml\n {4}tags: null → \["hours"\]\n {4}expect: /)
  await folder.run('apply')
  const [changed] = await testsThere()
  t.match(changed, { tags: ['hours'], definition: { expect: [{ heard: 'ten' }] }, yaml: /later in winter/ })
  t.same(await folder.run('plan'), { text: 'No difference', code: 0 })
  await folder.remove('tests/ava/hours.yaml')
  t.match((await folder.run('apply')).text, /tests\/ava\/hours\.yaml is gone; the test stays without --delete/)
  await folder.run('apply', ['--delete'])
  t.match(await testsThere(), [{ agent_id: null }])
})

t.test('a test that was changed on the instance is not overwritten, and moves with its agent', async (t) => {
  const folder = await folderOf(t)
  await folder.write('agents/ava.md', '---\nagent_name: Ava\n---\n\nWe open at nine.\n')
  await folder.write('tests/ava/hours.yaml', HOURS)
  await folder.run('apply')
  const [{ test_id, definition, agent_id }] = await testsThere()
  const put = (body: Record<string, unknown>) => ada.client.put(`/tests/${test_id}`, { body })
  await put({ agent_id, definition: { ...definition, times: 5 } })
  t.match((await folder.run('plan')).text, /! times was changed on the instance: 5; pull/)
  await folder.replace('tests/ava/hours.yaml', 'expect:', 'times: 3\nexpect:')
  await t.rejects(folder.run('apply'), refusal(/times was changed here and on the instance/))
  await folder.run('pull', ['--replace'])
  t.match(await folder.read('tests/ava/hours.yaml'), /times: 5/)
  await put({ definition })
  t.match((await folder.run('pull')).text, /wrote tests\/says-when-it-opens\.yaml/)
  await t.rejects(folder.read('tests/ava/hours.yaml'), { code: 'ENOENT' })
  t.same(await folder.run('plan'), { text: 'No difference', code: 0 })
})

t.test('a file of a test names its agent by its folder, and one that is there already is not made twice', async (t) => {
  const folder = await folderOf(t)
  await folder.write('tests/nobody/hours.yaml', HOURS)
  await t.rejects(folder.run('apply'), refusal(/tests\/nobody\/hours\.yaml: there is no file agents\/nobody\.md/))
  await folder.remove('tests/nobody/hours.yaml')
  await ada.client.post('/tests', { body: { yaml: HOURS } })
  await folder.write('tests/hours.yaml', HOURS)
  await t.rejects(folder.run('apply'), refusal(/test "says when it opens" is there already; pull first/))
})

t.test('a wrong file is refused with its line, and nothing is sent', async (t) => {
  const folder = await folderOf(t)
  const agent = (yaml: string) => `---\nagent_name: Ava\n${yaml}\n---\n\nYou are Ava.\n`
  const expected: [text: string, message: RegExp][] = [
    [agent('first_mesage: Hi'), /agents\/ava\.md:3: unknown key `first_mesage`; did you mean `first_message`\?/],
    [
      agent('interruption:\n  sensitivty: low'),
      /agents\/ava\.md:4: unknown key `sensitivty`; did you mean `sensitivity`\?/,
    ],
    [agent('language: de\nlanguage: en'), /agents\/ava\.md:4: .*unique/i],
    [agent('system_prompt: Hi'), /agents\/ava\.md:3: `system_prompt` stands below the second ---/],
    [agent('temperature: 7'), /agents\/ava\.md:3: temperature /],
    [agent('tools:\n  - type: http\n    name: 1x\n    description: D'), /agents\/ava\.md:5: tools\.0\.name /],
    ['You are Ava.\n', /agents\/ava\.md:1: must begin with a line ---/],
    ['---\nagent_name: Ava\n---\n', /needs a prompt below the second ---/],
    ['---\nlanguage: de\n---\n\nHi\n', /needs `agent_name`/],
    [agent(`keyterms: ${'['.repeat(100)}`), /nested too deeply/],
    [agent(`a: &a [x,x]\n${Array.from({ length: 30 }, (_, i) => `b${i}: *a`).join('\n')}`), /alias/i],
    [agent(`first_message: ${'x'.repeat(1_100_000)}`), /larger than 1024 KiB/],
    [agent(`first_message: ${'x'.repeat(10_000_000)}`), /larger than 2048 KiB/],
  ]
  for (const [text, message] of expected) {
    await folder.write('agents/ava.md', text)
    await t.rejects(folder.run('apply'), refusal(message), String(message))
  }
  await folder.remove('agents/ava.md')
  await folder.write('tests/a.yaml', 'name: a\ncaller: { say: [Hi] }\nexpcet: [{ heard: hi }]\n')
  await t.rejects(folder.run('plan'), refusal(/tests\/a\.yaml:3: expcet unknown key `expcet`; did you mean `expect`\?/))
  t.same((await ada.client.get('/agents')).body, [])
})

t.test('a folder serves several workspaces, and an agent is not made twice', async (t) => {
  const folder = await folderOf(t)
  await folder.write('agents/ava.md', '---\nagent_name: Ava\n---\n\nYou are Ava.\n')
  await folder.run('apply')
  const grace = await api.signUp('Grace')
  const other = await grace.client.post('/api-keys', { body: { name: 'CI', scopes: ['read', 'agents'] } })
  const there = { PATCHBAY_API_KEY: other.body.key }
  t.match((await folder.run('plan', [], there)).text, /\+ agents\/ava\.md/)
  await folder.run('apply', [], there)
  t.same(await folder.run('plan', [], there), { text: 'No difference', code: 0 })
  t.same(await folder.run('plan'), { text: 'No difference', code: 0 })
  await folder.remove('patchbay.lock.json')
  await t.rejects(folder.run('apply'), refusal(/agent "Ava" is there already; pull first/))
  await folder.write('campaigns/a.yaml', 'name: A\n')
  await t.rejects(folder.run('plan', [], there), refusal(/campaigns: .*campaigns/))
})

t.test('what is missing or wrong of the instance is named with its cure', async (t) => {
  const folder = await folderOf(t)
  await t.rejects(folder.run('plan', [], { PATCHBAY_URL: '' }), refusal(/Set PATCHBAY_URL to the address/))
  await t.rejects(
    folder.run('plan', [], { PATCHBAY_URL: 'localhost' }),
    refusal(/Set PATCHBAY_URL to an address that begins/),
  )
  await t.rejects(folder.run('plan', [], { PATCHBAY_API_KEY: '' }), refusal(/Set PATCHBAY_API_KEY to an API key/))
  await t.rejects(folder.run('plan', [], { PATCHBAY_API_KEY: 'pb_wrong' }), refusal(/401/))
  await t.rejects(folder.run('plan', [], { PATCHBAY_URL: 'http://127.0.0.1:9' }), refusal(/can't be reached/))
  await t.rejects(folder.run('plan', ['--delet']), refusal(/--delet is no option of plan/))
})

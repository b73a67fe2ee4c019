import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { runFilesCommand } from '../../../../cli/agent-files/files-command.ts'
import { AGENTS } from '../../../../cli/agent-files/kinds.ts'
import { type ManagedFile, readManagedFile } from '../../../../cli/agent-files/managed-file.ts'
import { PROCEDURES } from '../../../../cli/agent-imports/imported-agent.ts'
import { runImport } from '../../../../cli/agent-imports/run-import.ts'
import { startTestApi } from '../../../support/instance/api.ts'
import { type Teardown, testFolder } from '../../../support/instance/services.ts'

/**
 * The exports are written by hand from the types that the products publish: Assistant and Squad of @vapi-ai/server-sdk 2.0.1 (September 2026),
 * AgentResponse, LlmResponse and ConversationFlowResponse of retell-sdk 5.66.1 (November 2026), GetAgentResponseModel of
 * @elevenlabs/elevenlabs-js 2.73.0 (October 2026): their compiler takes the exports, but for the values of a request's headers, which Vapi's types leave out.
 */
const EXPORTS = { vapi: 'vapi-squad', retell: 'retell-llm', elevenlabs: 'elevenlabs-agents' } as const
type Product = keyof typeof EXPORTS
const pathOf = (product: Product): string => join(import.meta.dirname, 'exports', `${EXPORTS[product]}.json`)

async function imported(t: Teardown, product: Product, { defaults = false } = {}) {
  const folder = await testFolder(t)
  const printed = await runImport([product, pathOf(product), folder], { resolve: (path) => path, defaults })
  const report = await readFile(join(folder, 'import-report.md'), 'utf8')
  const agent = async (name: string): Promise<ManagedFile> => {
    const path = `agents/${name}.md`
    const read = readManagedFile(await readFile(join(folder, path), 'utf8'), { path, name, kind: AGENTS })
    if ('faults' in read) throw new Error(read.faults.join('\n'))
    return read
  }
  const tools = async (name: string) =>
    Object.fromEntries(((await agent(name)).fields.tools as { name: string }[]).map((tool) => [tool.name, tool]))
  /** Why a part of the export was not taken. */
  const [notTaken = '', taken = ''] = report.split('## Taken')
  const left = (path: string): string | undefined =>
    notTaken.split('\n').find((line) => line.startsWith(`| \`${path}\``))
  const kept = (path: string): string | undefined => taken.split('\n').find((line) => line.startsWith(`| \`${path}\``))
  return { folder, printed, report, agent, tools, left, kept }
}

t.test('assistants, tools and squads of Vapi become agents, tools and hand-offs', async (t) => {
  const { printed, agent, tools, left, kept, report } = await imported(t, 'vapi')
  t.match(printed, /wrote agents\/front-desk\.md\nwrote agents\/billing\.md\n\d+ settings taken, \d+ left out/)
  const { fields } = await agent('front-desk')
  t.match(fields, {
    agent_name: 'Front Desk',
    LLM_provider: 'openai',
    temperature: 0.3,
    first_message: 'Harbour Dental, how can I help you?',
    voicemail: 'leave_message',
    voicemail_message: 'Please call us back. It is {{today}}.',
    max_duration_s: 900,
    STT_provider: 'deepgram',
    STT_model: 'nova-3',
    keyterms: ['Harbour', 'Invisalign'],
    TTS_provider: 'elevenlabs',
    TTS_voice: 'JBFqnCBsd6RMkjVDRZzb',
    endpointing: 'patient',
    interruption: { sensitivity: 'low' },
    analysis: { data: { properties: { booked: { type: 'boolean' } } } },
    system_prompt: /^You are Ava of Harbour Dental\. The caller is \{\{caller_number\}\}\./,
  })
  t.match(await tools('front-desk'), {
    bookAppointment: {
      type: 'http',
      http: {
        method: 'POST',
        url: 'https://api.example.com/book',
        timeout_ms: 15_000,
        headers: { 'X-Key': /^\$\{FRONT_DESK_BOOKAPPOINTMENT_X_KEY\}$/ },
      },
      parameters: { required: ['day'] },
    },
    orderStatus: { type: 'http', http: { url: 'https://api.example.com/orders', headers: { Authorization: /^\$\{/ } } },
    transfer_call: { type: 'transfer', to: '+14155550199', mode: 'warm', description: 'The caller is in pain.' },
    end_call: { type: 'hang_up' },
    hand_off_to_billing: {
      type: 'handoff',
      to: 'billing',
      when: 'The caller asks about a bill.',
      says: 'I connect you with billing.',
    },
  })
  t.match((await agent('billing')).fields, {
    agent_name: 'Billing',
    system_prompt: 'You answer questions about bills.',
  })
  t.match(left('assistants.0.model.model'), /does not list it/)
  t.match(left('assistants.0.model.messages.1'), /only system messages/)
  t.match(left('assistants.0.model.maxTokens'), /no such setting/)
  t.match(left('assistants.0.model.tools.3'), /no tool of the type bash/)
  t.match(left('assistants.0.model.toolIds.1'), /not in the export/)
  t.match(left('assistants.0.endCallPhrases'), /no such setting/)
  t.match(left('assistants.1.model.provider'), /no LLM provider/)
  t.match(left('assistants.1.voice.provider'), /no TTS provider/)
  t.match(left('squads.0.members.0.assistantDestinations.1'), /Nowhere is not in the export/)
  t.match(left('squads.0.members.1.assistantOverrides'), /override/)
  t.match(kept('assistants.0.model.messages.0.content'), /no variable of Patchbay: \{\{ "now" \\\| date/)
  t.notMatch(report, /s3cret-value/)
})

t.test('agents, states and flows of Retell become agents, tools and procedures', async (t) => {
  const { agent, tools, left, report } = await imported(t, 'retell')
  const { fields } = await agent('front-desk')
  t.match(fields, {
    agent_name: 'Front Desk',
    language: 'en-US',
    first_message: 'Hello {{first_name}}!',
    temperature: 0,
    max_duration_s: 600,
    idle_timeout_s: 30,
    interruption: { enabled: true, sensitivity: 'low' },
    endpointing: 'eager',
    timezone: 'America/Los_Angeles',
    voicemail: 'leave_message',
    voicemail_message: 'Call us back at {{called_number}}.',
    analysis: { data: { properties: { reason: { enum: ['booking', 'billing'] } } } },
    system_prompt: /^You are Ava\. It is \{\{now\}\}, and \{\{first_name\}\} calls\./,
  })
  t.match(await tools('front-desk'), {
    end_call: { type: 'hang_up' },
    to_person: { type: 'transfer', to: '+14155550199', mode: 'warm' },
    to_billing: { type: 'handoff', to: 'billing', when: 'The caller asks about a bill.' },
    book: {
      type: 'http',
      http: {
        url: 'https://api.example.com/book?source=phone',
        timeout_ms: 15_000,
        headers: { Authorization: /^\$\{/ },
      },
    },
    crm: { type: 'mcp', url: 'https://crm.example.com/mcp' },
  })
  const procedures = JSON.stringify(fields[PROCEDURES])
  t.match(procedures, /greet.*The conversation begins.*Find out what they want.*Then \\*"book\\*": They want to book/s)
  t.match(procedures, /book.*They want to book.*Book it/s)
  const survey = await agent('survey')
  t.match(survey.fields.first_message ?? '', '')
  t.match(
    JSON.stringify(survey.fields[PROCEDURES]),
    /question.*The conversation begins.*How was it\?.*Then.*save.*They answered.*Call save\..*score.*> 3.*end/s,
  )
  t.match(await tools('survey'), { save: { http: { method: 'PUT' } }, end_call: { type: 'hang_up' } })
  t.match(left('agents.0.voice_id'), /set TTS_voice/)
  t.match(left('agents.0.ambient_sound'), /no such setting/)
  t.match(left('agents.1.response_engine'), /OPENAI_BASE_URL/)
  t.match(left('llms.0.general_tools.2'), /number that the model makes up/)
  t.match(left('llms.0.states.1.tools.1'), /book_appointment_cal/)
  t.match(left('llms.0.knowledge_base_ids'), /documents/)
  t.match(left('conversation_flows.0.nodes.2'), /no step of the type sms/)
  t.notMatch(report, /s3cret-value/)
})

t.test('agents and workflows of ElevenLabs become agents, tools and procedures', async (t) => {
  const { agent, tools, left, kept, report } = await imported(t, 'elevenlabs')
  const { fields } = await agent('front-desk')
  t.match(fields, {
    agent_name: 'Front Desk',
    first_message: 'Hello {{user_name}}!',
    temperature: 0.2,
    timezone: 'Europe/Berlin',
    TTS_provider: 'elevenlabs',
    TTS_voice: 'cjVigY5qzO86Huf0OWal',
    STT_provider: 'elevenlabs',
    keyterms: ['Harbour'],
    endpointing: 'patient',
    max_duration_s: 600,
    idle_timeout_s: 20,
    voicemail: 'leave_message',
    voicemail_message: 'Call us back.',
    analysis: { data: { properties: { reason: { type: 'string' } } } },
    system_prompt: /^You are Ava\. \{\{caller_number\}\} calls/,
  })
  t.match(await tools('front-desk'), {
    get_order: {
      type: 'http',
      parameters: { properties: { order_id: { type: 'string' }, full: { type: 'boolean' } }, required: ['order_id'] },
      http: {
        method: 'GET',
        url: 'https://api.example.com/orders/{{order_id}}?full={{full}}',
        timeout_ms: 15_000,
        headers: { Authorization: /^\$\{/ },
      },
    },
    end_call: { type: 'hang_up' },
    transfer_to_number: { type: 'transfer', to: '+14155550199', mode: 'warm', description: 'They ask for a person.' },
    hand_off_to_billing: { type: 'handoff', to: 'billing', when: 'They ask about a bill.' },
    hand_off_to_billing_2: { type: 'handoff', when: 'The budget is above 1000.', says: 'To billing.' },
  })
  t.match(JSON.stringify(fields[PROCEDURES]), /qualify.*Ask for the budget.*The budget is above 1000/s)
  t.match(left('agents.0.conversation_config.agent.prompt.tool_ids.1'), /GET \/v1\/convai\/tools/)
  t.match(left('agents.0.conversation_config.agent.prompt.built_in_tools.language_detection'), /multi/)
  t.match(
    left('agents.0.conversation_config.agent.prompt.built_in_tools.transfer_to_number.params.transfers.1'),
    /variable/,
  )
  t.match(left('agents.0.conversation_config.agent.prompt.knowledge_base.0'), /documents/)
  t.match(left('agents.0.conversation_config.language_presets'), /no such setting/)
  t.match(left('agents.0.workflow.nodes.node_3'), /update_state/)
  t.match(left('agents.1.conversation_config.agent.prompt.llm'), /no LLM provider/)
  t.ok(kept('agents.0.conversation_config.agent.prompt.prompt'))
  t.notMatch(report, /s3cret-value/)
})

t.test('everything of an export is in the report or is an id: nothing is lost unseen', async (t) => {
  for (const product of Object.keys(EXPORTS) as Product[]) {
    const text = await readFile(pathOf(product), 'utf8')
    const { report } = await imported(t, product)
    const reported = [...report.matchAll(/^\| `([^`]+)`/gm)].map(([, path = '']) => path)
    const leaves: string[] = []
    const walk = (value: unknown, path: string[]): void => {
      if (typeof value !== 'object' || value === null) leaves.push(path.join('.'))
      else for (const [key, part] of Object.entries(value)) walk(part, [...path, key])
    }
    walk(JSON.parse(text), [])
    const own =
      /(?:^|\.)(?:id|\w+_?id|orgId|createdAt|updatedAt|version|metadata|position|display_position|edge_order|\w*type|role|name|enabled|firstMessageMode|toolIds|timeoutSeconds|last_modification_timestamp|wait_for_result|headers|request_headers)(?:\.|$)/i
    const unseen = leaves.filter(
      (leaf) => !reported.some((path) => leaf === path || leaf.startsWith(`${path}.`)) && !own.test(leaf),
    )
    const isNothing = (leaf: string): boolean => {
      const value = leaf
        .split('.')
        .reduce<unknown>((part, key) => (part as Record<string, unknown>)[key], JSON.parse(text))
      return value === null || value === '' || value === false || value === 'agent'
    }
    t.same(
      unseen.filter((leaf) => !isNothing(leaf)),
      [],
      product,
    )
  }
})

t.test('the files of each product are taken by an instance, on its own models and voices', async (t) => {
  const api = await startTestApi(t)
  for (const product of Object.keys(EXPORTS) as Product[]) {
    const owner = await api.signUp(product)
    const { body } = await owner.client.post('/api-keys', {
      body: { name: 'CI', scopes: ['read', 'agents', 'campaigns'] },
    })
    const { folder, report } = await imported(t, product, { defaults: true })
    const secrets = Object.fromEntries([...report.matchAll(/\$\{(\w+)\}/g)].map(([, name]) => [name, 'secret']))
    const env = { PATCHBAY_URL: api.url, PATCHBAY_API_KEY: body.key, ...secrets }
    await runFilesCommand('apply', { folder, flags: [], env })
    const agents = (await owner.client.get('/agents')).body
    t.ok(agents.length >= 2, product)
    const [desk] = agents.filter((one: { agent_name: string }) => one.agent_name === 'Front Desk')
    const billing = agents.find((one: { agent_name: string }) => one.agent_name === 'Billing')
    t.ok(
      desk.tools.some((tool: { type: string; to?: string }) => tool.type === 'handoff' && tool.to === billing.agent_id),
      product,
    )
    t.same(await runFilesCommand('plan', { folder, flags: [], env }), { text: 'No difference', code: 0 })
  }
})

t.test('what is no export is refused, and a file that is there stays', async (t) => {
  const folder = await testFolder(t)
  const path = join(folder, 'export.json')
  const run = (product: string, text: string) =>
    writeFile(path, text).then(() => runImport([product, path, folder], { resolve: (one) => one, defaults: false }))
  await t.rejects(run('vapi', 'not json'), { message: /is no JSON/ })
  await t.rejects(run('vapi', '"text"'), { message: /holds no agent as vapi exports it/ })
  await t.rejects(run('retell', '{}'), { message: /holds no agent as retell exports it/ })
  await t.rejects(run('vapi', '['.repeat(10_000)), { message: /nested too deeply/ })
  await t.rejects(run('vapi', ' '.repeat(17 << 20)), { message: /larger than 16 MiB/ })
  await t.rejects(run('vappi', '{}'), { message: /Usage: patchbay import/ })
  await run('vapi', '{"name":"Ava","model":{"messages":[{"role":"system","content":"You are Ava."}]}}')
  await t.rejects(run('vapi', '{"name":"Ava"}'), { message: /agents\/ava\.md is there already/ })
  t.match(await readFile(join(folder, 'agents/ava.md'), 'utf8'), /You are Ava\./)
})

t.test('a tool of Retell keeps an address with placeholders', async (t) => {
  const folder = await testFolder(t)
  const path = join(folder, 'export.json')
  const tool = { type: 'custom', name: 'orders', url: '{{base_url}}/orders?all=1', query_params: { shop: 'a b' } }
  const llm = { general_prompt: 'You are Ava.', general_tools: [tool, { ...tool, name: 'plain', query_params: {} }] }
  await writeFile(path, JSON.stringify({ agent_name: 'Ava', retellLlmData: llm }))
  await runImport(['retell', path, folder], { resolve: (one) => one, defaults: false })
  const text = await readFile(join(folder, 'agents/ava.md'), 'utf8')
  t.match(text, /url: "\{\{base_url\}\}\/orders\?all=1&shop=a\+b"/)
  t.match(text, /url: "\{\{base_url\}\}\/orders\?all=1"/)
})

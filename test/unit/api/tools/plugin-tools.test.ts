import t from 'tap'
import { startTestApi } from '../../../support/instance/api.ts'
import { installPlugin } from '../../../support/instance/install-plugin.ts'
import { testFolder } from '../../../support/instance/services.ts'
import { waitUntil } from '../../../support/world/wait-until.ts'

const MOD = `import { definePlugin } from '@patchbay/plugin'
const parameters = { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] }
export default definePlugin({
  tools: () => ({
    list: async () => [
      { name: 'order_status', description: 'Where an order is.', parameters },
      { name: 'broken', description: 'Fails.', parameters },
      { name: 'slow', description: 'Takes for ever.', parameters },
    ],
    async call({ name, input, workspaceId }, signal) {
      if (name === 'broken') throw new Error('the shop is closed')
      if (name === 'slow') return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
      return { order: input.order, workspaceId }
    },
  }),
})
`

const dataDir = await testFolder(t)
await installPlugin(dataDir, 'shop', { provides: { tools: {} }, mod: MOD })
await installPlugin(dataDir, 'mute', { provides: { tools: {} }, mod: 'throw new Error("not written yet")\n' })
const api = await startTestApi(t, { env: { PATCHBAY_DATA_DIR: dataDir } })
const user = await api.signUp()

const script = (tool: string) => [
  { question: `Call ${tool}`, tool: { name: tool, arguments: { order: '17' } }, answer: '{output}' },
]

async function agentWith(tools: object[], tool = 'order_status'): Promise<string> {
  const { status, text, body } = await user.client.post('/agents', {
    body: {
      ...{ agent_name: 'Ava', system_prompt: 'Be kind.', LLM_provider: 'sim', tools },
      LLM_model: JSON.stringify({ script: script(tool) }),
    },
  })
  if (status !== 201) throw new Error(text)
  return body.agent_id
}

const toolsOf = async (agentId: string) => (await user.client.get(`/agents/${agentId}/tools`)).body

async function ask(agentId: string, tool: string): Promise<string> {
  await waitUntil(async () => (await toolsOf(agentId)).tools.length > 0)
  const body = { agent_id: agentId, message: `Call ${tool}` }
  return (await user.client.post('/chats/interaction', { body })).body.response
}

t.test('an agent answers with a tool of an installed plugin', async (t) => {
  const agentId = await agentWith([{ type: 'mcp', plugin: 'shop', allow: ['order_status'] }])
  const answer = JSON.parse(await ask(agentId, 'order_status'))
  t.same(answer, { order: '17', workspaceId: user.workspaceId })
  t.match(await toolsOf(agentId), {
    tools: [
      { type: 'mcp', name: 'order_status', description: 'Where an order is.', parameters: { required: ['order'] } },
    ],
    faults: [],
  })
  const { body } = await user.client.get(`/agents/${agentId}`)
  t.same(body.tools, [
    { type: 'mcp', name: 'shop', description: '', plugin: 'shop', timeout_ms: 5_000, allow: ['order_status'] },
  ])
  const saved = await user.client.patch(`/agents/${agentId}`, { body: { tools: body.tools } })
  t.equal(saved.status, 200, 'what is read can be saved')
})

t.test('a tool of a plugin that fails or takes too long is told to the model in words', async (t) => {
  const failing = await agentWith([{ type: 'mcp', plugin: 'shop' }], 'broken')
  t.match(await ask(failing, 'broken'), /The tool failed: .*the shop is closed/)
  const slow = await agentWith([{ type: 'mcp', plugin: 'shop', timeout_ms: 1_000 }], 'slow')
  t.match(await ask(slow, 'slow'), /The tool failed: no answer within 1000 ms/)
})

t.test('a plugin that can’t run leaves the agent its other tools, and says why', async (t) => {
  const agentId = await agentWith([
    { type: 'mcp', plugin: 'mute' },
    { type: 'mcp', plugin: 'shop' },
  ])
  await waitUntil(async () =>
    (await toolsOf(agentId)).faults.some((fault: string) => fault.includes('not written yet')),
  )
  t.match(await toolsOf(agentId), { faults: [/^Plugin "mute": .*not written yet/] })
  t.equal((await toolsOf(agentId)).tools.length, 3)
})

t.test('a plugin without tools, and an address beside a plugin, are refused', async (t) => {
  const refused = async (tool: object) =>
    (
      await user.client.post('/agents', {
        body: { agent_name: 'A', system_prompt: 'B', tools: [{ type: 'mcp', ...tool }] },
      })
    ).body.detail
  t.match(await refused({ plugin: 'openai' }), [
    { loc: ['body', 'tools', '0', 'plugin'], msg: 'is none of the plugins that have tools: demo, mute, shop' },
  ])
  t.match(await refused({ plugin: 'shop', url: 'https://x.example/mcp' }), [{ loc: ['body', 'tools', '0', 'url'] }])
  t.match(await refused({}), [{ loc: ['body', 'tools', '0', 'url'], msg: 'Field required' }])
})

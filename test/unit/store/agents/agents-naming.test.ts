import t from 'tap'
import { agentsNaming } from '../../../../store/agents/agents-naming.ts'
import { startTestApi } from '../../../support/instance/api.ts'
import { installPlugin } from '../../../support/instance/install-plugin.ts'
import { testFolder } from '../../../support/instance/services.ts'

t.test('the agents that name a provider are found in every workspace, by any of their parts', async (t) => {
  const dataDir = await testFolder(t)
  await installPlugin(dataDir, 'shop', { provides: { tools: {} }, mod: 'export default {}' })
  const api = await startTestApi(t, { env: { PATCHBAY_DATA_DIR: dataDir } })
  const [one, two] = [await api.signUp('One'), await api.signUp('Two')]
  const make = async (client: typeof one.client, name: string, more: object) => {
    const { status, text } = await client.post('/agents', {
      body: {
        agent_name: name,
        system_prompt: 'Be kind.',
        LLM_provider: 'sim',
        STT_provider: 'sim',
        TTS_provider: 'sim',
        ...more,
      },
    })
    t.equal(status, 201, text)
  }
  await make(one.client, 'A', {})
  await make(one.client, 'B', { LLM_provider: 'offline' })
  await make(two.client, 'C', { fallbacks: { LLM: [{ provider: 'offline', model: 'extractive' }] } })
  await make(two.client, 'D', { TTS_provider: 'offline' })
  t.same((await agentsNaming(api.store, 'offline')).map(({ agent }) => agent).sort(), ['B', 'C', 'D'])
  t.equal((await agentsNaming(api.store, 'sim')).length, 4)
  await make(two.client, 'E', { tools: [{ type: 'mcp', plugin: 'shop' }] })
  t.same(
    (await agentsNaming(api.store, 'shop')).map(({ agent }) => agent),
    ['E'],
  )
  t.same(await agentsNaming(api.store, 'off'), [])
})

import t from 'tap'
import { agentsNaming } from '../../../../store/agents/agents-naming.ts'
import { startTestApi } from '../../../support/instance/api.ts'

t.test('the agents that name a provider are found in every workspace, by any of their parts', async (t) => {
  const api = await startTestApi(t)
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
  t.same(await agentsNaming(api.store, 'off'), [])
})

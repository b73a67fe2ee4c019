import t from 'tap'
import samples from '../../../../web/console/src/screens/agent-samples/en.json' with { type: 'json' }
import { startTestApi } from '../../../support/instance/api.ts'
import { waitUntil } from '../../../support/world/wait-until.ts'

t.test('a sample agent books with the tools of the built-in demo, without a key', async (t) => {
  const api = await startTestApi(t)
  const user = await api.signUp()
  const tools = [{ type: 'mcp', plugin: 'demo', allow: ['free_times_en', 'book_appointment_en'] }]
  const body = { ...samples.bookings, language: 'en', LLM_provider: 'offline', tools }
  const { body: agent } = await user.client.post('/agents', { body })
  await waitUntil(async () => (await user.client.get(`/agents/${agent.agent_id}/tools`)).body.tools.length === 2)
  const say = async (message: string): Promise<string> => {
    const turn = { agent_id: agent.agent_id, session_id: 'salon', message }
    return (await user.client.post('/chats/interaction', { body: turn })).body.response
  }
  t.match(await say('I would like to book a haircut'), 'the day')
  t.match(await say('On Saturday'), 'the time of day')
  t.match(await say('At eight in the evening'), 'the name')
  t.match(await say('Ada Smith'), /That time is taken\. On Saturday, .* these times are free: /)
})

import { Writable } from 'node:stream'
import t from 'tap'
import { createLogger } from '../../../runtime/process/log.ts'
import { startTestApi } from '../../support/instance/api.ts'
import { until } from '../../support/instance/realtime-node.ts'
import { startDoubles } from '../../support/providers/doubles/start.ts'

const { doubles, env, stop } = await startDoubles()
t.teardown(stop)
const AGENT = { agent_name: 'Desk', system_prompt: 'You answer.' }

function linesOf(): { log: ReturnType<typeof createLogger>; lines: string[] } {
  const lines: string[] = []
  const destination = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk))
      done()
    },
  })
  return { log: createLogger({ level: 'info', name: 'api', destination }), lines }
}

/** Waits for a line of the log: what is found at the start is told when it is found. */
const told = (lines: readonly string[], wanted: RegExp) =>
  until(
    () => lines.some((line) => wanted.test(line)),
    () => lines.join(''),
  )

t.test('a change of the provider alone takes its default model and voice, and back', async (t) => {
  const api = await startTestApi(t, { env })
  const { client } = await api.signUp()
  const { body: agent } = await client.post('/agents', { body: AGENT })
  const changed = await client.put(`/agents/${agent.agent_id}`, {
    body: { LLM_provider: 'openai', STT_provider: 'openai', TTS_provider: 'openai' },
  })
  t.equal(changed.status, 200, changed.text)
  const fresh = await client.post('/agents', {
    body: { ...AGENT, LLM_provider: 'openai', STT_provider: 'openai', TTS_provider: 'openai' },
  })
  const chosen = ({ LLM_model, STT_model, TTS_voice }: Record<string, string>) => [LLM_model, STT_model, TTS_voice]
  t.same(chosen(changed.body), chosen(fresh.body))
  const back = await client.put(`/agents/${agent.agent_id}`, {
    body: { LLM_provider: agent.LLM_provider, STT_provider: agent.STT_provider, TTS_provider: agent.TTS_provider },
  })
  t.same([back.status, ...chosen(back.body)], [200, ...chosen(agent)])
})

t.test('an agent whose provider has no key is refused with the cure; the start says so for defaults', async (t) => {
  const { log, lines } = linesOf()
  const { OPENAI_API_KEY: _key, OPENAI_BASE_URL: _url, ...others } = env
  const api = await startTestApi(t, { env: { ...others, PATCHBAY_DEFAULT_LLM: 'openai' }, log })
  const { client } = await api.signUp()
  const refused = await client.post('/agents', { body: AGENT })
  t.equal(refused.status, 422)
  t.match(refused.body.detail, [
    { loc: ['body', 'LLM_provider'], type: 'value_error', msg: /^OpenAI can't be used: OPENAI_API_KEY is not set/ },
  ])
  await told(lines, /"level":"error".*OPENAI_API_KEY is not set/)

  const made = await client.post('/agents', { body: { ...AGENT, LLM_provider: 'offline', TTS_provider: 'cartesia' } })
  t.equal(made.status, 201)
  const changed = await client.put(`/agents/${made.body.agent_id}`, {
    body: { STT_provider: 'openai', STT_model: 'whisper-1' },
  })
  t.equal(changed.status, 422)
  t.equal(changed.body.detail[0].loc[1], 'STT_provider')
  t.equal((await client.put(`/agents/${made.body.agent_id}`, { body: { temperature: 0.1 } })).status, 200)
})

t.test(
  'a refused key is told at start and to whoever names the provider; an absent server is not held against it',
  async (t) => {
    const { log, lines } = linesOf()
    const api = await startTestApi(t, { env: { ...env, DEEPGRAM_API_KEY: 'wrong' }, log })
    const { client } = await api.signUp()
    const refused = await client.post('/agents', { body: { ...AGENT, STT_provider: 'deepgram', STT_model: 'nova-3' } })
    t.equal(refused.status, 422)
    t.match(refused.body.detail[0].msg, /^Deepgram refused the key \(401\); check DEEPGRAM_API_KEY/)
    await told(lines, /"level":"error".*Deepgram refused the key/)
    doubles.cartesia.faults.set({ kind: 'refuse', status: 503 })
    const body = { ...AGENT, STT_provider: 'sim', TTS_provider: 'cartesia' }
    t.equal((await client.post('/agents', { body })).status, 201)
    doubles.cartesia.faults.clear()
    t.notOk(
      lines.some((line) => line.includes('wrong')),
      'no key is logged',
    )
  },
)

import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { dialAgent, finishedLog, makeAgent } from '../../../scripts/demo/call.ts'
import { startInstance } from '../../support/instance/instance.ts'
import { DOUBLE_KEY, startDoubles } from '../../support/providers/doubles/start.ts'
import { hurry } from '../../support/world/hurry.ts'

const SECRET_PROMPT = 'The vault code of the Harbour Bistro is seven seven four'
const QUESTION = 'What time do you open on Saturday?'
const AGENT = {
  agent_name: 'Private',
  system_prompt: `${SECRET_PROMPT}. On Saturdays we open at ten in the morning.`,
  first_message: 'Welcome to a place nobody else knows.',
  LLM_provider: 'openai',
  STT_provider: 'deepgram',
  TTS_provider: 'cartesia',
}

t.test('no key, prompt or word of a call reaches the log, whatever the providers do', async (t) => {
  const { doubles, env, stop } = await startDoubles()
  t.teardown(stop)
  const instance = await startInstance(t, env)
  hurry()
  const { rest, agentId } = await makeAgent(instance.url, AGENT)
  const signal = AbortSignal.timeout(240_000)
  const { caller, callLogId } = await dialAgent(rest, agentId, signal)
  t.teardown(() => caller.vanish())
  const turns: string[] = []
  caller.on('message', (message) => {
    if (message.type === 'transcript' && message.final) turns.push(message.text)
  })
  const until = async (condition: () => boolean) => {
    while (!condition() && !signal.aborted && caller.endReason === undefined) await sleep(50)
  }
  await until(() => turns.length > 0 && !caller.agentSpeaking)
  await caller.say(QUESTION, signal)
  await until(() => turns.some((text) => /ten in the morning/.test(text)) && !caller.agentSpeaking)
  t.ok(turns.includes(QUESTION), 'the call works')

  // Servers that quote what they refuse, and connections that break in the middle.
  doubles.openai.faults.set(
    { kind: 'refuse', status: 400, message: `Bad messages: [{"content":"${SECRET_PROMPT}"}]` },
    1,
  )
  doubles.deepgram.faults.set({ kind: 'error', status: 500, code: 'NET', message: 'x' }, 1)
  doubles.cartesia.faults.set({ kind: 'malformed', count: 3 }, 1)
  const asked = doubles.openai.requests.length
  caller.type('Tell me a secret nobody may read')
  await until(() => doubles.openai.requests.length > asked)
  await sleep(2_000)
  doubles.openai.faults.set({ kind: 'refuse', status: 401, message: `Incorrect API key provided: ${DOUBLE_KEY}.` })
  caller.type('And another secret nobody may read')
  await until(() => caller.endReason !== undefined)

  const log = await finishedLog(rest, callLogId, signal)
  t.equal(log.status, 'failed')
  t.match(
    (log as unknown as { error: string }).error,
    /OpenAI \(127\.0\.0\.1:\d+\) refused the key \(401\); check OPENAI_API_KEY/,
  )
  await instance.stop()
  const output = instance.output()
  t.match(output, /"stage":"llm","fault":"authentication"/, 'the faults were logged')
  for (const secret of [
    DOUBLE_KEY,
    'vault code',
    'ten in the morning',
    'Saturday',
    'nobody else knows',
    'nobody may read',
  ]) {
    t.notOk(output.includes(secret), `"${secret}" is not in the log`)
  }
})

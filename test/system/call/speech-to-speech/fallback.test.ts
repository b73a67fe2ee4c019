import { once } from 'node:events'
import t from 'tap'
import { dialAgent, finishedLog, makeAgent } from '../../../../scripts/demo/call.ts'
import { Conversation } from '../../../../scripts/demo/conversation.ts'
import { startInstance } from '../../../support/instance/instance.ts'
import { startDoubles } from '../../../support/providers/doubles/start.ts'
import { hurry } from '../../../support/world/hurry.ts'

const QUESTION = 'What time do you open on Saturday?'
const AGENT = {
  agent_name: 'Speaker',
  system_prompt: 'On Saturdays we open at ten in the morning. Delivery costs three euros anywhere in town.',
  first_message: 'Hello, how can I help you?',
  LLM_provider: 'openai',
  LLM_model: 'gpt-realtime-2.1',
  STT_provider: 'deepgram',
  TTS_provider: 'openai',
  TTS_voice: 'marin',
  transcribe: 'model',
  fallbacks: { LLM: [{ provider: 'openai', model: 'gpt-5.4-mini' }] },
}

t.test('an agent talks through a speech-to-speech model, and through the pipeline once that fails', async (t) => {
  const { doubles, env, stop } = await startDoubles()
  t.teardown(stop)
  const instance = await startInstance(t, env)
  hurry()
  const signal = AbortSignal.timeout(240_000)
  const { rest, agentId } = await makeAgent(instance.url, AGENT)
  const { caller, callLogId } = await dialAgent(rest, agentId, signal)
  t.teardown(() => caller.vanish())
  const conversation = new Conversation(caller, () => {}, signal)
  await conversation.greeting()
  const { heard } = await conversation.ask({ text: QUESTION, expects: '' })
  t.equal(heard, QUESTION)
  await conversation.agentDone()
  t.notOk(
    doubles.openai.requests.includes('POST /v1/chat/completions'),
    'the model of speech answered, nothing was written',
  )
  doubles.openai.cut()
  doubles.openai.faults.set({ kind: 'refuse', status: 503 }, 3)
  caller.type('How much does delivery cost?')
  await once(caller, 'agentStarts', { signal })
  await conversation.agentDone()
  await caller.hangUp(signal)
  const log = await finishedLog(rest, callLogId, signal)
  t.match(log.transcript, [
    { role: 'assistant', text: 'Hello, how can I help you?' },
    { role: 'user', text: QUESTION },
    { role: 'assistant', text: /ten in the morning/, interrupted: false },
    { role: 'user', text: 'How much does delivery cost?' },
    { role: 'assistant', text: /three euros/ },
  ])
  const { items } = await rest.send<{ items: Record<string, unknown>[] }>(
    'GET',
    `/calls/${callLogId}/events?page_size=200`,
  )
  const written = items.filter(({ type }) => type === 'transcribed')
  t.match(written, [{ turn: 1, text: QUESTION }], 'the model wrote what it heard, and not what was typed')
  const servedBy = { provider: 'openai', model: 'gpt-transcribe' }
  t.match(
    items.filter(({ served_by }) => served_by !== undefined),
    [{ type: 'usage', stage: 'stt', served_by: servedBy }],
  )
  const { usage } = log as unknown as { usage: { output: { audio: number | null }; input: { text?: number } } }
  t.ok((usage.output.audio ?? 0) > 10, `${usage.output.audio} tokens of its voice`)
})

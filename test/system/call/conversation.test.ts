import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import type { ServerMessage } from '../../../api/realtime/messages.ts'
import { dialAgent, finishedLog, makeAgent, runDemo } from '../../../scripts/demo/call.ts'
import { Caller } from '../../../scripts/demo/caller.ts'
import { Conversation } from '../../../scripts/demo/conversation.ts'
import type { SessionToken } from '../../../scripts/demo/rest.ts'
import { type Instance, startInstance } from '../../support/instance/instance.ts'
import { hurry } from '../../support/world/hurry.ts'

const LIMIT_MS = 300_000
const silent = () => {}
let instance: Instance

t.before(async () => {
  instance = await startInstance(t)
  hurry()
})

const limit = () => AbortSignal.timeout(LIMIT_MS)

/** What the agent said, turn by turn, as the session told it. */
function agentTurns(caller: Caller): string[] {
  const turns: string[] = []
  caller.on('message', (message: ServerMessage) => {
    if (message.type === 'transcript' && message.role === 'assistant' && message.final) turns.push(message.text)
  })
  return turns
}

t.test('three spoken questions are heard, answered and logged, and the caller can cut the agent off', async (t) => {
  const { faults, log, exchanges } = await runDemo(instance.url, { killWorker: false, say: silent, signal: limit() })
  t.same(faults, [])
  t.ok(exchanges[2]?.cutMs !== undefined && exchanges[2].cutMs < 5_000, `cut after ${exchanges[2]?.cutMs} ms`)
  t.ok(log.usage.stt_seconds > 5 && log.usage.tts_characters > 50 && log.usage.llm_output_tokens > 10)
  // The answer that was cut off may be closed only when the next turn is measured.
  t.ok(log.latency.turns >= 2, `${log.latency.turns} latencies`)
})

t.test('an agent of simulated providers follows its script, set over REST', async (t) => {
  const signal = limit()
  const script = [{ question: 'Where can I park?', answer: 'Right behind the house.' }]
  const { rest, agentId } = await makeAgent(instance.url, {
    agent_name: 'Scripted',
    system_prompt: 'You follow a script.',
    first_message: '',
    STT_provider: 'sim',
    LLM_provider: 'sim',
    LLM_model: JSON.stringify({ firstTokenMs: 50, script }),
    TTS_provider: 'sim',
    TTS_voice: 'tone',
  })
  const { caller, callLogId } = await dialAgent(rest, agentId, signal)
  t.teardown(() => caller.vanish())
  const conversation = new Conversation(caller, silent, signal)
  const exchange = await conversation.ask({ text: 'Where can I park?', expects: '' })
  t.equal(exchange.heard, 'Where can I park?')
  await conversation.agentDone()
  await caller.hangUp(signal)
  const log = await finishedLog(rest, callLogId, signal)
  t.match(log, { status: 'completed', end_reason: 'caller_hangup' })
  t.match(log.transcript, [
    { role: 'user', text: 'Where can I park?' },
    { role: 'assistant', text: 'Right behind the house.', interrupted: false },
  ])
})

t.test('a typed turn is answered aloud', async (t) => {
  const signal = limit()
  const { rest, agentId } = await makeAgent(instance.url)
  const { caller } = await dialAgent(rest, agentId, signal)
  t.teardown(() => caller.vanish())
  const turns = agentTurns(caller)
  const conversation = new Conversation(caller, silent, signal)
  await conversation.greeting()
  caller.type('How much does delivery cost?')
  await once(caller, 'agentStarts', { signal })
  await conversation.agentDone()
  t.equal(turns.at(-1), 'Delivery costs three euros anywhere in town.')
  await caller.hangUp(signal)
})

t.test('what is not understood is not answered', async (t) => {
  const signal = limit()
  const { rest, agentId } = await makeAgent(instance.url)
  const { caller, callLogId } = await dialAgent(rest, agentId, signal)
  t.teardown(() => caller.vanish())
  const conversation = new Conversation(caller, silent, signal)
  await conversation.greeting()
  await caller.say('My hovercraft is full of eels.', signal)
  // Without a pause both would be one utterance, and the recogniser knows neither.
  await sleep(1_500)
  const { heard } = await conversation.ask({ text: 'How much does delivery cost?', expects: '' })
  t.equal(heard, 'How much does delivery cost?')
  await conversation.agentDone()
  await caller.hangUp(signal)
  const { transcript } = await finishedLog(rest, callLogId, signal)
  t.equal(transcript.filter((turn) => turn.role === 'user').length, 1)
})

t.test('a client that vanishes ends its call within 15 s', async (t) => {
  const signal = limit()
  const { rest, agentId } = await makeAgent(instance.url)
  const vanishes = { terminate: (caller: Caller) => caller.vanish(), freeze: (caller: Caller) => caller.freeze() }
  for (const [how, vanish] of Object.entries(vanishes)) {
    const { caller, callLogId } = await dialAgent(rest, agentId, signal)
    t.teardown(() => caller.vanish())
    await once(caller, 'agentStarts', { signal })
    vanish(caller)
    const log = await finishedLog(rest, callLogId, signal)
    t.match(log, { status: 'completed', end_reason: 'connection_lost' }, how)
  }
})

t.test('a session token opens one session', async (t) => {
  const signal = limit()
  const { rest, agentId } = await makeAgent(instance.url)
  const { realtime_url: url } = await rest.send<SessionToken>('GET', `/calls/generate-token?agent_id=${agentId}`)
  const here = new URL(url)
  here.host = new URL(instance.url).host
  const caller = await Caller.dial({ url: here.href }, signal)
  t.teardown(() => caller.vanish())
  await t.rejects(Caller.dial({ url: here.href }, signal), /401/)
  await caller.hangUp(signal)
})

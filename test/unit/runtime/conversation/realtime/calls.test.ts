import { test } from 'tap'
import { RealtimeLlm } from '../../../../../runtime/conversation/realtime/realtime-llm.ts'
import { call, RATE_HZ } from '../support/harness.ts'
import { ScriptedLlm, ScriptedStt, ToneTts } from '../support/providers.ts'
import { speech, speechAfterPause } from '../support/speech.ts'
import { DELIVERY, PROMPT, type RealtimeWorld, realtimeWorld, WHERE } from './support.ts'

const AGENT = { systemPrompt: PROMPT, firstMessage: 'Hello.' }
const ears = () => new ScriptedStt({ utterances: [WHERE, DELIVERY] })
const WEATHER = { type: 'object', properties: { city: { type: 'string' } } }
const typesOf = (world: RealtimeWorld) => world.told.map(({ type }) => type)

test('a spoken question is answered in the model’s own voice, from its sound', async (t) => {
  const world = await realtimeWorld(t)
  const { port, say, hangUp } = await call({
    providers: { stt: ears(), llm: await world.model(), tts: new ToneTts() },
    agent: AGENT,
  })
  t.teardown(hangUp)
  await port.until('the greeting was said', () => port.said.includes('assistant: Hello.'))
  await say(speechAfterPause(WHERE, RATE_HZ))
  await port.until('the answer', () => port.said.length >= 3)
  t.strictSame(port.said, ['assistant: Hello.', `user: ${WHERE}`, 'assistant: The shop is at 12 Pier Street.'])
  t.strictSame(world.refused, [])
  t.strictSame(port.faults, [])
  t.match(
    world.told.filter(({ type }) => type === 'conversation.item.create'),
    [{ item: { role: 'assistant', content: [{ type: 'output_text', text: 'Hello.' }] } }],
    'of the call it got the greeting as text and the question as sound',
  )
  t.ok(typesOf(world).includes('input_audio_buffer.commit'))
  t.equal(port.used.characters, 'Hello.'.length, 'the agent’s voice said the greeting alone')
})

test('a caller who cuts in: the session forgets what was not heard, and nothing else', async (t) => {
  const world = await realtimeWorld(t)
  const long = `${PROMPT} ${'Our parking lot is right behind the house and it is open around the clock. '.repeat(4)}`
  const { port, say, type, hangUp } = await call({
    providers: { stt: ears(), llm: await world.model(), tts: new ToneTts() },
    agent: { ...AGENT, systemPrompt: long, firstMessage: '' },
  })
  t.teardown(hangUp)
  type('Where can I park around the clock?')
  await port.until('the agent speaks', () => port.loudFrames > 40)
  await say(speech(DELIVERY, RATE_HZ))
  await port.until('the second answer', () => port.said.length >= 4)
  t.match(port.said[1], /^assistant: Our .*!$/)
  t.equal(port.said[3], 'assistant: Delivery costs three euros anywhere in town.')
  const cut = world.told.filter(({ type }) => type === 'conversation.item.truncate')
  t.equal(cut.length, 1)
  const heardMs = port.turns[1]!.turn.endMs - port.turns[1]!.turn.startMs
  const keptMs = Number(cut[0]?.audio_end_ms)
  // Where the sound came late there was silence between: of the turn, not of the answer.
  t.ok(keptMs <= heardMs + 100 && keptMs >= heardMs * 0.75, `${keptMs} ms of ${heardMs} ms heard`)
  t.strictSame(world.refused, [])
})

test('a tool is called, its result answered once, and what was typed is text', async (t) => {
  const world = await realtimeWorld(t)
  const { port, type, hangUp } = await call({
    providers: { stt: ears(), llm: await world.model(), tts: new ToneTts() },
    agent: {
      ...AGENT,
      firstMessage: '',
      tools: [{ name: 'weather', description: 'The weather.', parameters: WEATHER, kind: 'http' }],
    },
    prepare: (port) => {
      port.runTool = () => 'Sunny.'
    },
  })
  t.teardown(hangUp)
  type('Please use the tool.')
  await port.until('the answer', () => port.said.length >= 2)
  t.strictSame(port.said, ['user: Please use the tool.', 'assistant: The tool said: "Sunny."'])
  t.match(port.tools, [{ name: 'weather', arguments: { city: 'Paris' } }])
  t.equal(port.tools.length, 1)
  t.strictSame(world.refused, [])
})

test('a session that breaks off in mid-answer: another model and the agent’s voice say the rest', async (t) => {
  const world = await realtimeWorld(t)
  const rest = new ScriptedLlm(() => 'It opens at nine.')
  world.double.faults.set({ kind: 'disconnect', after: 22 }, 1)
  const { port, type, hangUp } = await call({
    providers: { stt: ears(), llm: [await world.model(), rest], tts: new ToneTts() },
    agent: { ...AGENT, firstMessage: '' },
  })
  t.teardown(hangUp)
  type(WHERE)
  await port.until('the answer', () => port.said.length >= 2 && port.faults.length > 0)
  t.match(port.said[1], /^assistant: The shop .*It opens at nine\.$/)
  t.match(port.faults[0], /OpenAI .*broke off.*went on with/)
})

test('a session that can’t be opened: the pipeline answers at once', async (t) => {
  const world = await realtimeWorld(t)
  world.double.faults.set({ kind: 'refuse', status: 503 })
  const { port, say, hangUp } = await call({
    providers: { stt: ears(), llm: [await world.model(), new ScriptedLlm(() => 'At the pier.')], tts: new ToneTts() },
    agent: { ...AGENT, firstMessage: '' },
  })
  t.teardown(hangUp)
  await say(speech(WHERE, RATE_HZ))
  await port.until('the answer', () => port.said.length >= 2)
  t.strictSame(port.said, [`user: ${WHERE}`, 'assistant: At the pier.'])
  t.ok((port.latencies[0]?.totalMs ?? 9_999) < 2_000, `after ${port.latencies[0]?.totalMs} ms`)
  world.double.faults.clear()
  await say(speechAfterPause(DELIVERY, RATE_HZ))
  await port.until('the next answer', () => port.said.length >= 4)
  t.equal(port.said[3], 'assistant: Delivery costs three euros anywhere in town.', 'it is back with the next question')
  t.match(
    world.told.filter(({ type }) => type === 'conversation.item.create').map(({ item }) => item),
    [
      { role: 'user', content: [{ text: WHERE }] },
      { role: 'assistant', content: [{ text: 'At the pier.' }] },
    ],
    'and knows what was said meanwhile',
  )
})

test('a session that ends before it answered anything is not opened again until somebody asks', async (t) => {
  const world = await realtimeWorld(t, { sessionMs: 200 })
  const firstMessage = 'Hello, and welcome to our shop at the pier. What can I do for you today?'
  const { port, hangUp } = await call({
    providers: { stt: ears(), llm: await world.model(), tts: new ToneTts() },
    agent: { ...AGENT, firstMessage },
  })
  t.teardown(hangUp)
  await port.until('the greeting was said', () => port.said.includes(`assistant: ${firstMessage}`))
  await port.until('the session is over', () => world.double.open() === 0)
  t.equal(world.sessions(), 1)
})

test('a session is renewed before its time is over, and knows what was said', async (t) => {
  const world = await realtimeWorld(t, { sessionMs: 10_000 })
  const { port, type, hangUp } = await call({
    providers: { stt: ears(), llm: await world.model({ realtimeSessionS: 10 }), tts: new ToneTts() },
    agent: { ...AGENT, firstMessage: '' },
  })
  t.teardown(hangUp)
  type(WHERE)
  await port.until('the first answer', () => port.said.length >= 2)
  const sessions = () => world.double.requests.filter((one) => one === 'UPGRADE /v1/realtime').length
  await port.until('there were three sessions', () => sessions() >= 3)
  type(DELIVERY)
  await port.until('the second answer', () => port.said.length >= 4)
  t.equal(port.said[3], 'assistant: Delivery costs three euros anywhere in town.')
  t.strictSame(port.faults, [])
  t.strictSame(world.refused, [])
})

test('with the agent’s own voice the model writes, and still hears', async (t) => {
  const world = await realtimeWorld(t)
  const model = await world.model({ realtimeVoice: 'own' })
  t.ok(model instanceof RealtimeLlm && !model.speaks)
  const { port, say, hangUp } = await call({
    providers: { stt: ears(), llm: model, tts: new ToneTts() },
    agent: { ...AGENT, firstMessage: '' },
  })
  t.teardown(hangUp)
  await say(speech(WHERE, RATE_HZ))
  await port.until('the answer', () => port.said.length >= 2)
  t.equal(port.said[1], 'assistant: The shop is at 12 Pier Street.')
  t.ok(port.used.characters > 20)
  t.strictSame(world.refused, [])
})

import { test } from 'tap'
import { call, RATE_HZ } from '../support/harness.ts'
import { ScriptedLlm, ScriptedStt, ToneTts } from '../support/providers.ts'
import { speech, speechAfterPause } from '../support/speech.ts'
import { DELIVERY, PROMPT, type RealtimeWorld, realtimeWorld, WHERE } from './support.ts'

const AGENT = { systemPrompt: PROMPT, firstMessage: '' }
const WEATHER = { name: 'weather', description: 'The weather.', parameters: { type: 'object' }, kind: 'http' as const }
const ears = () => new ScriptedStt({ utterances: [WHERE, DELIVERY] })
const kindsOf = ({ told }: RealtimeWorld) =>
  told.map((message) => {
    const [kind = ''] = Object.keys(message)
    return kind === 'realtimeInput' ? Object.keys(message.realtimeInput as object)[0] : kind
  })

test('Gemini hears a spoken question between the marks of an activity, behind what was said before', async (t) => {
  const world = await realtimeWorld(t, { vendor: 'google' })
  const { port, say, hangUp } = await call({
    providers: { stt: ears(), llm: await world.model(), tts: new ToneTts() },
    agent: { ...AGENT, firstMessage: 'Hello.' },
  })
  t.teardown(hangUp)
  await port.until('the greeting was said', () => port.said.includes('assistant: Hello.'))
  await say(speechAfterPause(WHERE, RATE_HZ))
  await port.until('the answer', () => port.said.length >= 3)
  t.strictSame(port.said, ['assistant: Hello.', `user: ${WHERE}`, 'assistant: The shop is at 12 Pier Street.'])
  t.strictSame(
    kindsOf(world).filter((kind) => kind !== 'contextUpdate'),
    ['setup', 'clientContent', 'activityStart', 'activityEnd'],
  )
  // The session counts an answer as its own, and says what it used, once all of it could have been heard.
  await port.until('thoughts count as output', () => port.used.output_tokens > 12)
  t.strictSame(world.held(), [
    { role: 'assistant', text: 'Hello.' },
    { role: 'user', text: WHERE },
    { role: 'assistant', text: 'The shop is at 12 Pier Street.' },
  ])
  t.strictSame(port.faults, [])
  t.strictSame(world.refused, [])
})

test('a second question is heard while it is spoken, by the same session', async (t) => {
  const world = await realtimeWorld(t, { vendor: 'google' })
  const { port, say, hangUp } = await call({
    providers: { stt: ears(), llm: await world.model(), tts: new ToneTts() },
    agent: AGENT,
  })
  t.teardown(hangUp)
  await say(speech(WHERE, RATE_HZ))
  await port.until('the answer', () => port.said.length >= 2)
  await say(speechAfterPause(DELIVERY, RATE_HZ))
  await port.until('the second answer', () => port.said.length >= 4)
  t.equal(port.said[3], 'assistant: Delivery costs three euros anywhere in town.')
  t.equal(world.sessions(), 1)
  t.strictSame(world.refused, [])
})

test('Gemini calls a tool and goes on with its result', async (t) => {
  const world = await realtimeWorld(t, { vendor: 'google' })
  const { port, type, hangUp } = await call({
    providers: { stt: ears(), llm: await world.model(), tts: new ToneTts() },
    agent: { ...AGENT, tools: [WEATHER] },
    prepare: (port) => {
      port.runTool = () => 'Sunny.'
    },
  })
  t.teardown(hangUp)
  type('Please use the tool.')
  await port.until('the answer', () => port.said.length >= 2)
  t.strictSame(port.said, ['user: Please use the tool.', 'assistant: The tool said: "Sunny."'])
  t.equal(port.tools.length, 1)
  t.match(world.told.at(-1), {
    toolResponse: { functionResponses: [{ name: 'weather', response: { output: '"Sunny."' } }] },
  })
  t.strictSame(world.refused, [])
})

test('a key that Google refuses is named, and the pipeline answers', async (t) => {
  const world = await realtimeWorld(t, { vendor: 'google', key: 'wrong' })
  const { port, say, hangUp } = await call({
    providers: { stt: ears(), llm: [await world.model(), new ScriptedLlm(() => 'At the pier.')], tts: new ToneTts() },
    agent: AGENT,
  })
  t.teardown(hangUp)
  await say(speech(WHERE, RATE_HZ))
  await port.until('the answer', () => port.said.length >= 2)
  t.equal(port.said[1], 'assistant: At the pier.')
  t.match(port.faults[0], /Google .*key/)
})

test('a session that says it ends soon gives way to another before it does, and the caller notices nothing', async (t) => {
  const world = await realtimeWorld(t, { vendor: 'google', sessionMs: 4_000 })
  const { port, type, hangUp } = await call({
    providers: { stt: ears(), llm: await world.model(), tts: new ToneTts() },
    agent: AGENT,
  })
  t.teardown(hangUp)
  // One that ended before it answered anything would be replaced when somebody asks, and nobody did.
  await port.until('another session was opened', () => world.sessions() === 2)
  type(WHERE)
  await port.until('the answer', () => port.said.length >= 2)
  t.strictSame(port.said, [`user: ${WHERE}`, 'assistant: The shop is at 12 Pier Street.'])
  t.strictSame(port.faults, [])
  t.strictSame(world.refused, [])
})

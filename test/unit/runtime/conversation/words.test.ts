import { test } from 'tap'
import { call, RATE_HZ } from './support/harness.ts'
import { ScriptedLlm, ScriptedStt, ToneTts } from './support/providers.ts'
import { speech } from './support/speech.ts'

const ENGLISH = 'What are your opening hours?'

const world = (reply: string) => ({
  stt: new ScriptedStt({ utterances: [ENGLISH] }),
  llm: new ScriptedLlm(() => reply),
  tts: new ToneTts(),
})

test('a recogniser that says it can’t know the words is believed at once', async (t) => {
  const stt = new ScriptedStt({ utterances: [], saysUnknown: true })
  const { port, say, hangUp } = await call({ providers: { ...world('At nine.'), stt } })
  t.teardown(hangUp)
  await say(speech(ENGLISH, RATE_HZ))
  await port.until('it is told', () => port.events.some((event) => event.type === 'not_understood'))
  t.match(
    port.events.find((event) => event.type === 'not_understood'),
    { reason: 'unknown_sentence' },
  )
  t.match(
    port.events.find((event) => event.type === 'fault'),
    { stage: 'stt', code: 'unknown_sentence', sentence: 'Set a real recogniser' },
  )
  await port.until('the caller is asked', () => port.said.some((one) => one.includes("didn't catch that")))
  t.equal(stt.streams, 1, 'it does not hang: it is not given up')
})

test('words are given to the voice as they are to be said, and kept as they are written', async (t) => {
  const providers = world('We use SQL here.')
  const { port, say, hangUp } = await call({ providers, agent: { pronunciation: [{ word: 'sql', say: 'sequel' }] } })
  t.teardown(hangUp)
  await say(speech(ENGLISH, RATE_HZ))
  await port.until('the answer', () => port.said.includes('assistant: We use SQL here.'))
  t.strictSame(providers.tts.said, ['We use sequel here.'])
})

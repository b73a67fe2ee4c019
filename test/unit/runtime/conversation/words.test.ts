import { APIStatusError } from '@livekit/agents'
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

test('figures and addresses are given to the voice as people say them, and kept as they are written', async (t) => {
  const written = 'Das kostet 12,50 €, z. B. über ada@example.de.'
  const providers = world(written)
  const { port, type, hangUp } = await call({ providers, agent: { language: 'de' } })
  t.teardown(hangUp)
  type('Was kostet das?')
  await port.until('the answer', () => port.said.includes(`assistant: ${written}`))
  t.strictSame(providers.tts.said, ['Das kostet 12 Euro 50, zum Beispiel über ada at example Punkt de.'])
})

test('an answer is spoken, recorded and remembered without its markup', async (t) => {
  const written =
    '**Two** rooms:\n\n| Room | Price |\n|---|---|\n| Single | $80 |\n\nSee [our terms](https://example.com/a_b).'
  const said = 'Two rooms:\nSingle: $80.\nSee our terms.'
  const providers = world(written)
  const { port, type, hangUp } = await call({ providers })
  t.teardown(hangUp)
  type('Which rooms?')
  await port.until('the answer', () => port.turns.length === 2)
  t.equal(port.turns[1]!.turn.text, said)
  t.same(
    port.events.filter((event) => event.type === 'said').map((event) => event.text),
    [said],
  )
  type('Thank you.')
  await port.until('the model is asked again', () => providers.llm.contexts.length === 2)
  const known = providers.llm.contexts[1]!.items.find((item) => item.type === 'message' && item.role === 'assistant')
  t.equal(known?.type === 'message' && known.textContent, said)
})

test('an answer of code alone is made up for by a sentence', async (t) => {
  const { port, type, hangUp } = await call({ providers: world('```json\n{"a": 1}\n```') })
  t.teardown(hangUp)
  type('What?')
  await port.until('something is said', () => port.turns.length === 2)
  t.match(port.turns[1]!.turn.text, /say that again/)
})

test('an answer is logged with its own words, without those of one that was cut off before', async (t) => {
  const long = 'This is an answer that goes on for quite a while, far longer than anybody waits for it to end.'
  const answers = [long, 'The second one.']
  const providers = { ...world(''), llm: new ScriptedLlm(() => answers.shift() ?? '') }
  const { port, type, hangUp } = await call({ providers })
  t.teardown(hangUp)
  type('First?')
  await port.until('the first is heard', () => port.heardTurns.length > 0)
  type('Second?')
  await port.until('the second answer', () => port.said.includes('assistant: The second one.'))
  const said = port.events.filter((event) => event.type === 'said').map((event) => event.text)
  t.ok(
    said.every((text) => text === long || text === 'The second one.'),
    JSON.stringify(said),
  )
})

test('of an answer whose voice fails for good, the record holds what was heard', async (t) => {
  const answer = 'We are open from nine to five. On Saturdays we open an hour later than that, and close at two.'
  let pieces = 0
  const refused = new APIStatusError({ message: 'no', options: { statusCode: 400, retryable: false } })
  const providers = { ...world(answer), tts: new ToneTts(() => (++pieces > 7 && pieces < 40 ? refused : undefined)) }
  const { port, type, hangUp } = await call({ providers })
  t.teardown(hangUp)
  type('When?')
  await port.until('the answer is over', () => port.turns.length >= 2)
  const { text } = port.turns[1]!.turn
  t.match(text, /^We are open/)
  t.notMatch(text, /Saturdays/)
})

test('an answer that is prepared for words is given to them in their final form, and asked for once', async (t) => {
  const drafts = () => 'what are your opening hours'
  const stt = new ScriptedStt({ utterances: [ENGLISH], drafts, finalDelayMs: 120 })
  const providers = { ...world('At nine.'), stt }
  const { port, say, hangUp } = await call({ providers })
  t.teardown(hangUp)
  await say(speech(ENGLISH, RATE_HZ))
  await port.until('the answer', () => port.said.includes('assistant: At nine.'))
  t.equal(port.said[0], `user: ${ENGLISH}`)
  t.strictSame(providers.llm.asked, ['what are your opening hours'])
})

test('an answer that is prepared for other words is asked for again', async (t) => {
  const stt = new ScriptedStt({ utterances: [ENGLISH], drafts: () => 'what are your hours', finalDelayMs: 120 })
  const providers = { ...world('At nine.'), stt }
  const { port, say, hangUp } = await call({ providers })
  t.teardown(hangUp)
  await say(speech(ENGLISH, RATE_HZ))
  await port.until('the answer', () => port.said.includes('assistant: At nine.'))
  t.equal(providers.llm.asked.at(-1), ENGLISH)
})

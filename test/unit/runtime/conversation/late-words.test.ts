import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'tap'
import { joinSamples } from '../../../../runtime/media/frame.ts'
import { call, RATE_HZ } from './support/harness.ts'
import { type Answer, ScriptedLlm, ToneTts, UtteranceStt } from './support/providers.ts'
import { lineNoise, speech } from './support/speech.ts'

/** Recognisers that take whole utterances and answer when they can: what is said in pauses of a sentence is one turn. */

const FIRST = 'I would like to book a table for two.'
const SECOND = 'For tomorrow evening at eight.'
const STORY = 'Breakfast is served from seven to half past ten, and on Sundays it is served an hour longer than that.'

const pauseOf = (ms: number) => lineNoise((RATE_HZ * ms) / 1000)
const both = (pauseMs: number) => joinSamples([speech(FIRST, RATE_HZ), pauseOf(pauseMs), speech(SECOND, RATE_HZ)])

async function asks(pauseMs: number, answers: readonly Answer[]) {
  const stt = new UtteranceStt(answers)
  const llm = new ScriptedLlm((words) => `Noted: ${words}`)
  const made = await call({ providers: { stt, llm, tts: new ToneTts() } })
  await made.say(both(pauseMs))
  return { ...made, stt, llm }
}

test('a turn does not end on the first sentence while the words of the second are on their way', async (t) => {
  const { port, hangUp, stt, llm } = await asks(600, [
    { afterMs: 300, gives: FIRST },
    { afterMs: 300, gives: SECOND },
  ])
  t.teardown(hangUp)
  await port.until('it is answered', () => port.said.some((one) => one.startsWith('assistant:')))
  t.same(port.said, [`user: ${FIRST} ${SECOND}`, `assistant: Noted: ${FIRST} ${SECOND}`])
  t.equal(stt.asked.length, 2)
  t.equal(port.clears, 0, 'nothing was said that had to be taken back')
  t.same(llm.asked, [`${FIRST} ${SECOND}`], 'no answer to the first sentence alone is prepared')
})

test('sentences whose words come at once are one turn, and none is lost', async (t) => {
  const { port, hangUp } = await asks(600, [
    { afterMs: 2_600, gives: FIRST },
    { afterMs: 50, gives: SECOND },
  ])
  t.teardown(hangUp)
  await port.until('it is answered', () => port.said.some((one) => one.startsWith('assistant:')))
  t.same(port.said, [`user: ${FIRST} ${SECOND}`, `assistant: Noted: ${FIRST} ${SECOND}`])
})

test('the second sentence is asked for again when its request fails after the words of the first', async (t) => {
  const { port, hangUp, stt } = await asks(600, [
    { afterMs: 2_700, gives: FIRST },
    { afterMs: 50, gives: Object.assign(new Error('500'), { status: 500 }) },
    { afterMs: 50, gives: SECOND },
  ])
  t.teardown(hangUp)
  await port.until('it is answered', () => port.said.some((one) => one.startsWith('assistant:')))
  t.equal(stt.asked.length, 3)
  t.same(port.said, [`user: ${FIRST} ${SECOND}`, `assistant: Noted: ${FIRST} ${SECOND}`])
})

test('a turn has the times of its sound, however late its words come', async (t) => {
  const stt = new UtteranceStt([
    { afterMs: 1_500, gives: FIRST },
    { afterMs: 1_500, gives: SECOND },
  ])
  const llm = new ScriptedLlm(() => 'Yes.')
  const { port, say, hangUp } = await call({ providers: { stt, llm, tts: new ToneTts() } })
  t.teardown(hangUp)
  const lengthMs = (text: string) => speech(text, RATE_HZ).length / (RATE_HZ / 1000)
  await sleep(300)
  await say(speech(FIRST, RATE_HZ))
  await port.until('it is answered', () => port.said.length === 2)
  // A noise while the words of the next question are on their way.
  await say(joinSamples([speech(SECOND, RATE_HZ), pauseOf(900), speech('uh', RATE_HZ)]))
  await port.until('it is answered', () => port.turns.filter(({ turn }) => turn.role === 'user').length === 2)
  const spans = port.events.flatMap((event, i) => (event.type === 'turn' ? [port.sounds[i]] : []))
  for (const [i, text] of [FIRST, SECOND].entries()) {
    const { from, to } = spans[i]!
    const ms = ((to - from) * 1000) / RATE_HZ
    t.ok(Math.abs(ms - lengthMs(text)) < 200, `${ms} ms of sound, ${lengthMs(text)} ms were spoken`)
  }
  t.ok(spans[1]!.from > spans[0]!.to + 1.5 * RATE_HZ, 'the second does not begin where the first ended')
})

test('an agent that was cut off does not go on over a caller whose words are on their way', async (t) => {
  const STOP = 'Stop, please, I want to know when breakfast is.'
  const stt = new UtteranceStt([{ afterMs: 1_500, gives: STOP }])
  const llm = new ScriptedLlm(() => 'From seven.')
  const { port, say, hangUp } = await call({
    providers: { stt, llm, tts: new ToneTts() },
    agent: { firstMessage: STORY },
  })
  t.teardown(hangUp)
  await port.until('the agent has spoken a while', () => port.loudFrames > 60)
  await say(speech(STOP, RATE_HZ))
  const before = port.loudFrames
  await port.until('the words come', () => port.words.length > 0)
  t.equal(port.loudFrames, before, 'nothing of the story is heard meanwhile')
  await port.until('it is answered', () => port.said.includes('assistant: From seven.'))
  t.match(port.said, [/^assistant: Breakfast.*!$/, `user: ${STOP}`, 'assistant: From seven.'])
})

test('an agent that was cut off by a noise goes on once the recogniser found no words in it', async (t) => {
  const stt = new UtteranceStt([{ afterMs: 900, gives: '' }])
  const llm = new ScriptedLlm(() => 'What?')
  const { port, say, hangUp } = await call({
    providers: { stt, llm, tts: new ToneTts() },
    agent: { firstMessage: STORY },
  })
  t.teardown(hangUp)
  await port.until('the agent has spoken a while', () => port.loudFrames > 60)
  await say(speech(SECOND, RATE_HZ))
  await port.until('the agent has finished', () => port.turns.length > 0)
  t.strictSame(port.said, [`assistant: ${STORY}`])
  t.ok(port.clears >= 1, 'it had stopped')
})

test('a slow recogniser is asked once for each sentence', async (t) => {
  const stt = new UtteranceStt([{ afterMs: 5_500, gives: FIRST }])
  const llm = new ScriptedLlm(() => 'Yes.')
  const { port, say, hangUp } = await call({ providers: { stt, llm, tts: new ToneTts() } })
  t.teardown(hangUp)
  await say(speech(FIRST, RATE_HZ))
  await port.until('it is answered', () => port.said.includes('assistant: Yes.'))
  t.equal(stt.asked.length, 1)
  t.same(port.said, [`user: ${FIRST}`, 'assistant: Yes.'])
})

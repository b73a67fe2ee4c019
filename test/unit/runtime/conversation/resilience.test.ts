import { setTimeout as sleep } from 'node:timers/promises'
import { APIConnectionError, APIStatusError } from '@livekit/agents'
import { test } from 'tap'
import { SimLLM } from '../../../../plugins/sim/llm.ts'
import type { FaultPlan, LlmScenario, TtsScenario } from '../../../../plugins/sim/scenario.ts'
import { simVoice } from '../../../../plugins/sim/tts.ts'
import { Breakers } from '../../../../runtime/conversation/providers/breaker.ts'
import { SentenceTTS } from '../../../../runtime/plugin-sdk/speech/sentence-tts.ts'
import { call, RATE_HZ } from './support/harness.ts'
import { ScriptedLlm, ScriptedStt, ToneTts } from './support/providers.ts'
import { speech } from './support/speech.ts'

type Kind = FaultPlan['kind']

const QUESTION = 'What are your opening hours?'
const OTHER = 'I want to know something else.'
const ANSWER = 'We are open from nine to five. On Saturdays we open an hour later than that.'

/** As agents are unless they say otherwise. */
const FILLED = { deadAir: { enabled: true, phrases: [] } }

const inbound = () => new ScriptedStt({ utterances: [QUESTION, OTHER] })
const down = () => new APIStatusError({ message: 'down', options: { statusCode: 500 } })
const answering = (answer = ANSWER) => new ScriptedLlm(() => answer)
const simLlm = (scenario: LlmScenario) => new SimLLM({ otherwise: ANSWER, ...scenario })
const simTts = (scenario: TtsScenario) =>
  new SentenceTTS(
    simVoice(() => {
      throw new Error('a tone needs no program')
    }, scenario),
  )

test('a conversation survives its first language model failing before, in and after the first words', async (t) => {
  const survive = async (kind: Kind, after: number) => {
    const llm = [simLlm({ fault: { kind, after, times: 2 } }), answering()]
    const { port, type, hangUp } = await call({ providers: { stt: inbound(), llm, tts: new ToneTts() } })
    type('When?')
    await port.until(`the answer after ${kind} at ${after}`, () => port.turns.length === 2)
    await hangUp()
    t.match(port.turns[1]!.turn.text, ANSWER, `${kind} after ${after} tokens: said once and whole`)
    t.match(port.faults.join(), /went on with test-1/)
    t.same(port.endings, [])
  }
  await Promise.all([
    survive('error', 0),
    survive('disconnect', 4),
    survive('hang', 0),
    survive('hang', 5),
    survive('rate_limit', 0),
  ])
})

test('a model that is alone is tried again before anything was said', async (t) => {
  const llm = simLlm({ fault: { kind: 'error', times: 1 } })
  const { port, type, hangUp } = await call({ providers: { stt: inbound(), llm, tts: new ToneTts() } })
  t.teardown(hangUp)
  type('When?')
  await port.until('the answer', () => port.turns.length === 2)
  t.equal(port.turns[1]!.turn.text, ANSWER)
  t.match(port.faults, ['test has a fault of its own (500)'])
})

test('a conversation survives its first voice failing before and in the middle of a reply', async (t) => {
  const survive = async (kind: Kind, after: number) => {
    const tts = [simTts({ fault: { kind, after, times: 3 } }), simTts({})]
    const { port, type, hangUp } = await call({ providers: { stt: inbound(), llm: answering(), tts } })
    type('When?')
    await port.until(`the answer after ${kind} at ${after}`, () => port.turns.length === 2)
    await hangUp()
    t.match(port.turns[1]!.turn.text, /On Saturdays we open an hour later than that\.$/, `${kind} after ${after} ms`)
    const heardMs = port.loudFrames * 20
    t.ok(heardMs > ANSWER.length * 55, `all of it is heard: ${heardMs} ms`)
    t.ok(port.faults.length > 0)
  }
  await Promise.all([survive('error', 0), survive('disconnect', 1_000), survive('hang', 0), survive('hang', 2_000)])
})

test('a conversation survives two voices that hang, one after the other', async (t) => {
  const hangs = () => simTts({ fault: { kind: 'hang', after: 0, times: 3 } })
  const tts = [hangs(), hangs(), simTts({})]
  const { port, type, hangUp } = await call({ providers: { stt: inbound(), llm: answering(), tts } })
  t.teardown(hangUp)
  type('When?')
  await port.until('the answer', () => port.turns.length === 2)
  t.equal(port.turns[1]!.turn.text, ANSWER)
})

test('a caller whose only voice hangs hears an apology once it speaks again', async (t) => {
  const tts = simTts({ fault: { kind: 'hang', after: 0, times: 2 } })
  const { port, type, hangUp } = await call({ providers: { stt: inbound(), llm: answering(), tts } })
  t.teardown(hangUp)
  type('When?')
  await port.until('the apology', () => port.said.some((said) => said.includes('say that again')))
  t.match(port.faults.at(-1), /did not answer in time/)
})

test('a conversation survives its first recogniser failing and hanging in the middle of a question', async (t) => {
  const survive = async (kind: 'fails' | 'hangs') => {
    let heard = 0
    const broken = new ScriptedStt({
      utterances: kind === 'hangs' ? [] : [QUESTION],
      fail: () => (kind === 'hangs' || ++heard < 40 ? undefined : down()),
    })
    const stt = [broken, inbound()]
    const { port, say, hangUp } = await call({ providers: { stt, llm: answering('Nine.'), tts: new ToneTts() } })
    await say(speech(QUESTION, RATE_HZ))
    await port.until(`the answer though the recogniser ${kind}`, () => port.turns.length === 2)
    await hangUp()
    t.equal(port.said[0], `user: ${QUESTION}`, 'no word is lost')
    t.match(port.said[1], /^assistant: .*Nine\.$/)
    t.ok(port.faults.length > 0, port.faults.join())
  }
  await Promise.all([survive('fails'), survive('hangs')])
})

test('a recogniser that has the words before the silence is judged is not taken for one that hangs', async (t) => {
  const stt = new ScriptedStt({ utterances: [QUESTION], silenceMs: 40, finalDelayMs: 0 })
  const { port, say, hangUp } = await call({ providers: { stt, llm: answering('Nine.'), tts: new ToneTts() } })
  t.teardown(hangUp)
  await say(speech(QUESTION, RATE_HZ))
  await port.until('the answer', () => port.turns.length === 2)
  await sleep(2_500)
  t.equal(stt.streams, 1)
  t.same(port.faults, [])
})

test('what one call learns of a provider spares the next the wait', async (t) => {
  const breakers = new Breakers()
  const asked: number[] = []
  for (let i = 0; i < 3; i++) {
    const first = new ScriptedLlm(() => down())
    const { port, type, hangUp } = await call({
      providers: { stt: inbound(), llm: [first, answering('Nine.')], tts: new ToneTts() },
      breakers,
    })
    type('When?')
    await port.until('the answer', () => port.turns.length === 2)
    await hangUp()
    asked.push(first.asked.length)
  }
  t.ok(asked[0]! > 0)
  t.equal(asked[2], 0, 'it is known to be down')
})

test('a caller whose answer is late hears a filler in the agent’s voice, before the answer', async (t) => {
  const ready = Promise.withResolvers<void>()
  const llm = new ScriptedLlm(() => ANSWER, ready.promise)
  const { port, say, hangUp } = await call({ providers: { stt: inbound(), llm, tts: new ToneTts() }, agent: FILLED })
  t.teardown(hangUp)
  await say(speech(QUESTION, RATE_HZ))
  const askedAtMs = performance.now()
  const before = port.audioAtMs.length
  await port.until('something is heard', () => port.audioAtMs.length > before)
  const silentMs = performance.now() - askedAtMs
  t.ok(silentMs > 2_000, `${silentMs.toFixed()} ms of silence`)
  ready.resolve()
  await port.until('the answer', () => port.turns.length === 2)
  t.equal(port.turns[1]!.turn.text, `One moment, please. ${ANSWER}`, 'the record holds what was heard')
  t.equal(port.latencies.length, 1)
  t.ok(port.latencies[0]!.totalMs > silentMs, 'a filler is no answer')
})

test('a caller whose recogniser hangs is not left in silence', async (t) => {
  const deaf = new ScriptedStt({ utterances: [] })
  const { port, say, hangUp } = await call({
    providers: { stt: deaf, llm: answering(), tts: new ToneTts() },
    agent: FILLED,
  })
  t.teardown(hangUp)
  await say(speech(QUESTION, RATE_HZ))
  await port.until('something is heard', () => port.loudFrames > 5)
  t.ok(deaf.streams > 1, 'the recogniser was opened again')
})

test('where no voice can be had, a tone is heard, and the call ends with the reason', async (t) => {
  const refused = new APIStatusError({ message: 'Incorrect API key', options: { statusCode: 401 } })
  const ready = Promise.withResolvers<void>()
  const llm = new ScriptedLlm(() => ANSWER, ready.promise)
  const { port, type, hangUp } = await call({
    providers: { stt: inbound(), llm, tts: new ToneTts(() => refused) },
    agent: FILLED,
  })
  t.teardown(hangUp)
  type('When?')
  await port.until('a tone', () => port.loudFrames > 5)
  ready.resolve()
  await port.until('the end', () => port.endings.length > 0)
  t.match(port.endings[0], { reason: 'error', error: /test refused the key \(401\)/ })
})

test('a fallback that can not be made is told and left out', async (t) => {
  const { port, type, hangUp } = await call({
    providers: { stt: inbound(), llm: answering('Nine.'), tts: new ToneTts() },
    agent: { fallbacks: { llm: [{ provider: 'test-7', model: '' }] } },
  })
  t.teardown(hangUp)
  type('When?')
  await port.until('the answer', () => port.turns.length === 2)
  t.same(port.said.at(-1), 'assistant: Nine.')
  t.match(port.faults, ['test-7 is left out: No plugin provides llm "test-7"'])
})

test('connections that break count as transient', async (t) => {
  const llm = new ScriptedLlm(() => new APIConnectionError({ message: 'socket hang up' }))
  const { port, type, hangUp } = await call({ providers: { stt: inbound(), llm, tts: new ToneTts() } })
  t.teardown(hangUp)
  type('When?')
  await port.until('the apology', () => port.said.some((said) => said.includes('say that again')))
  t.match(port.faults[0], /could not be reached or broke off/)
})

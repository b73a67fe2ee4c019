import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'tap'
import type { AgentSpec } from '../../../../../runtime/call/types/agent-spec.ts'
import {
  endpointingDelay,
  endpointingDelayMs,
  type TurnSilence,
  turnSilence,
  weighWords,
} from '../../../../../runtime/conversation/hearing/endpointing.ts'
import { InboundAudio } from '../../../../../runtime/conversation/hearing/inbound-audio.ts'
import { TurnEnd } from '../../../../../runtime/conversation/hearing/turn-end.ts'
import { english } from '../../../../../runtime/conversation/languages/en.ts'
import { EOT_SAMPLES, loadModels } from '../../../../../runtime/conversation/providers/models.ts'
import { contextOf } from '../../../../../runtime/conversation/replying/context.ts'
import { systemClock } from '../../../../../runtime/lib/clock.ts'
import { speech } from '../support/speech.ts'

/** No words are on their way. */
const KNOWN = { settled: () => undefined, endsTurns: false }

test('the surer the model, the shorter the silence', (t) => {
  const delays = [0, 0.05, 0.1, 0.2, 0.3, 0.45, 0.6, 0.9, 1].map(endpointingDelayMs)
  t.strictSame(
    delays,
    [...delays].sort((a, b) => b - a),
  )
  t.equal(delays[0], 1600)
  t.equal(delays.at(-1), 140)
  t.end()
})

test('an open sentence is not over, a closed one more likely is', (t) => {
  t.equal(weighWords(0.5, 'I would like to book a table for', english), 0.12)
  t.equal(weighWords(0.5, 'My number is, um,', english), 0.12)
  t.equal(weighWords(0.05, 'the', english), 0.05)
  t.ok(weighWords(0.3, 'We are four.', english) > 0.45)
  t.ok(
    weighWords(0.3, 'Are you open?', english) > weighWords(0.3, 'You are open.', english),
    'who has asked waits for the answer',
  )
  t.equal(weighWords(0.3, 'four people', english), 0.3)
  t.equal(weighWords(0.95, 'Yes.', english), 1)
  t.equal(weighWords(0.3, '', english), 0.3)
  t.end()
})

const endsAfter = (endpointing: NonNullable<AgentSpec['endpointing']>, probability: number, text: string): number =>
  turnSilence(endpointingDelay(endpointing), () => english)(probability, text)

test('the surer the model and the words, the shorter the silence that ends a turn', async (t) => {
  t.equal(endsAfter('balanced', 0.9, 'Are you open?'), 140)
  t.ok(endsAfter('balanced', 0.3, 'Are you open?') < endsAfter('balanced', 0.3, 'are you'))
  t.ok(endsAfter('balanced', 0.9, 'I would like to book a table for') > 1_000)
})

test('an eager agent waits for less, a patient one for more', async (t) => {
  for (const [probability, text] of [
    [0.9, 'Are you open?'],
    [0.3, 'four people'],
    [0.1, 'and then'],
  ] as const) {
    const balanced = endsAfter('balanced', probability, text)
    t.ok(endsAfter('eager', probability, text) < balanced)
    t.ok(endsAfter('patient', probability, text) > balanced)
  }
})

test('the end-of-turn model really runs: it tells unfinished speech from finished', async (t) => {
  const models = await loadModels('silent')
  const opinion = async (text: string) => {
    const inbound = new InboundAudio(systemClock)
    inbound.hear(speech(text, 16_000))
    inbound.hear(new Int16Array(1600))
    t.equal(inbound.recent().length, EOT_SAMPLES)
    return models.endOfTurn(inbound.recent())
  }
  const open = await opinion('I think that, um')
  const closed = await opinion('No thank you.')
  t.ok(open > 0 && open < 0.2, `open: ${open}`)
  t.ok(closed > open + 0.1, `closed: ${closed}`)
})

test('an opinion is formed once a pause and kept to its delay from the last sound', async (t) => {
  let asked = 0
  const models = {
    createVad: () => {
      throw new Error('not used')
    },
    endOfTurn: async () => {
      asked++
      return 0.3
    },
  }
  const turnEnd = new TurnEnd({
    inbound: new InboundAudio(systemClock),
    models,
    clock: systemClock,
    silence: () => 200,
    words: KNOWN,
    onError: (error) => t.fail(String(error)),
  })
  const context = contextOf(
    { turns: [{ role: 'user', text: 'Yes', startMs: 0, endMs: 0, interrupted: false }], tools: [], notes: [] },
    0,
  )
  turnEnd.paused()
  const endMs = systemClock.monotonicMs()
  turnEnd.speechEnded(endMs)
  t.equal(await turnEnd.predictEndOfTurn(context), 1)
  t.ok(systemClock.monotonicMs() - endMs >= 198)
  await turnEnd.predictEndOfTurn(context)
  t.equal(asked, 1)
  turnEnd.speechStarted(0)
  turnEnd.paused()
  await turnEnd.predictEndOfTurn(context)
  t.equal(asked, 2)
  turnEnd.close()
})

test('a model that fails or hangs costs certainty, not the turn', async (t) => {
  const errors: unknown[] = []
  const used: number[] = []
  for (const endOfTurn of [() => Promise.reject(new Error('broken')), () => new Promise<number>(() => {})]) {
    const models = { createVad: () => ({ predict: async () => 0, reset: () => {} }), endOfTurn }
    const silence: TurnSilence = (probability) => {
      used.push(probability)
      return 0
    }
    const turnEnd = new TurnEnd({
      inbound: new InboundAudio(systemClock),
      models,
      clock: systemClock,
      silence,
      words: KNOWN,
      onError: (error) => errors.push(error),
    })
    t.equal(await turnEnd.predictEndOfTurn(contextOf(undefined, 0)), 1)
  }
  t.equal(errors.length, 1)
  t.strictSame(used, [0.3, 0.3])
})

test('a turn does not end on the words that are known while others are on their way', async (t) => {
  const first = Promise.withResolvers<void>()
  const second = Promise.withResolvers<void>()
  const owed: (Promise<void> | undefined)[] = [first.promise, second.promise, undefined]
  const turnEnd = new TurnEnd({
    inbound: new InboundAudio(systemClock),
    models: { createVad: () => ({ predict: async () => 0, reset: () => {} }), endOfTurn: async () => 1 },
    clock: systemClock,
    silence: () => 0,
    words: { settled: () => owed.shift(), endsTurns: false },
    onError: (error) => t.fail(String(error)),
  })
  let ended = false
  const end = turnEnd.predictEndOfTurn(contextOf(undefined, 0)).then(() => {
    ended = true
  })
  await sleep(50)
  first.resolve()
  await sleep(20)
  t.notOk(ended)
  second.resolve()
  await end
})

test('a recogniser that says when a turn is over needs no model', async (t) => {
  let asked = 0
  const silences: [number, string][] = []
  const turnEnd = new TurnEnd({
    inbound: new InboundAudio(systemClock),
    models: {
      createVad: () => ({ predict: async () => 0, reset: () => {} }),
      endOfTurn: async () => {
        asked++
        return 0
      },
    },
    clock: systemClock,
    silence: (probability, text) => {
      silences.push([probability, text])
      return 0
    },
    words: { settled: () => undefined, endsTurns: true },
    onError: (error) => t.fail(String(error)),
  })
  const context = contextOf(
    { turns: [{ role: 'user', text: 'A table for', startMs: 0, endMs: 0, interrupted: false }], tools: [], notes: [] },
    0,
  )
  turnEnd.speechStarted(1_000)
  turnEnd.paused()
  turnEnd.speechEnded(systemClock.monotonicMs())
  turnEnd.turnEnded(2_000)
  await turnEnd.predictEndOfTurn(context)
  t.same([asked, silences], [0, [[1, '']]], 'nor do the words say otherwise')
  turnEnd.speechStarted(3_000)
  turnEnd.turnEnded(2_000)
  await turnEnd.predictEndOfTurn(context)
  t.same([asked, silences.at(-1)], [1, [0, 'A table for']], 'it is of what was said before')
})

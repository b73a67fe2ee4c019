import fc from 'fast-check'
import t from 'tap'
import {
  NOTHING_HEARD,
  owesWords,
  type RecognitionEffect,
  type RecognitionEvent,
  recognitionDueAtMs,
  recognitionStep,
  type Span,
} from '../../../../../runtime/conversation/hearing/recognition.ts'

/** A recogniser at a desk: the run of audio and the clock begin together, ticks come when they are due. */
function atDesk({ interims = false, backed = false } = {}) {
  let state = NOTHING_HEARD
  let nowMs = 0
  let lastSpeechMs = 0
  const effects: (RecognitionEffect & { atMs: number })[] = []
  const step = (event: RecognitionEvent) => {
    const next = recognitionStep(state, event, nowMs)
    state = next.state
    effects.push(...next.effects.map((effect) => ({ ...effect, atMs: nowMs })))
  }
  const desk = {
    effects,
    state: () => state,
    owes: () => owesWords(state, nowMs),
    step,
    until(atMs: number) {
      for (let ticks = 0; ; ticks++) {
        const dueAtMs = recognitionDueAtMs(state, nowMs)
        if (dueAtMs === undefined || dueAtMs > atMs) break
        if (ticks > 100) throw new Error('it ticks for ever')
        nowMs = Math.max(nowMs, dueAtMs)
        step({ type: 'tick' })
      }
      nowMs = atMs
    },
    /** The caller speaks from then to then; the end is known 128 ms later. */
    speaks(startMs: number, endMs: number) {
      desk.until(startMs + 64)
      step({ type: 'speech_started', startMs })
      desk.until(endMs + 128)
      lastSpeechMs = endMs
      step({ type: 'speech_ended', endMs })
    },
    words(text: string, span?: Span, type: 'interim' | 'final' = 'final') {
      step({ type, text, span, heardMs: nowMs, lastSpeechMs, as: 'words' })
    },
    opens: () => step({ type: 'opened', interims, backed, preparing: false }),
    of: (type: RecognitionEffect['type']) => effects.filter((effect) => effect.type === type),
    take: () => effects.splice(0).map(({ type }) => type),
  }
  desk.opens()
  return desk
}

t.test('words of what was said since are owed while a recogniser has answered the first sentence only', async (t) => {
  const { speaks, words, owes, until, of } = atDesk()
  speaks(0, 2_000)
  t.ok(owes())
  speaks(2_600, 4_000)
  words('I would like to book a table for two.', { startMs: 0, endMs: 2_400 })
  t.ok(owes(), 'those of the second sentence')
  until(4_700)
  words('For tomorrow evening at eight.', { startMs: 2_300, endMs: 4_400 })
  t.notOk(owes())
  t.match(of('words'), [{ span: { startMs: 0, endMs: 2_000 } }, { span: { startMs: 2_600, endMs: 4_000 } }])
})

t.test('words are owed for some times as long as the recogniser takes, and not for ever', async (t) => {
  const { speaks, words, owes, until } = atDesk()
  speaks(0, 2_000)
  until(2_428)
  words('Yes.', { startMs: 0, endMs: 2_400 })
  speaks(3_000, 4_000)
  until(6_000)
  t.ok(owes())
  until(6_200)
  t.notOk(owes())
})

t.test('an utterance in which the recogniser finds no words is not waited for', async (t) => {
  const { speaks, words, owes, until, take } = atDesk()
  speaks(0, 1_000)
  words('', { startMs: 0, endMs: 1_400 })
  t.notOk(owes())
  take()
  until(60_000)
  t.same(take(), ['forget', 'no_words'], 'it does not hang, and the speech is reported once')
})

t.test('an utterance after the words of another is still awaited, asked for again and reported', async (t) => {
  const { speaks, words, of, until, step, opens, state } = atDesk({ backed: true })
  speaks(0, 2_000)
  speaks(2_600, 4_000)
  until(4_500)
  words('One.', { startMs: 0, endMs: 2_400 })
  t.match(of('forget'), [{ upToMs: 2_400 }], 'the audio behind it is kept')
  step({ type: 'closed', hung: false })
  until(4_600)
  opens()
  until(60_000)
  t.equal(state().speech.length, 0)
  t.match(of('no_words'), [{ startMs: 2_600, endMs: 4_000, reason: 'no_words' }])
})

t.test('a slow recogniser is given longer each time, and at last only waited for', async (t) => {
  const { speaks, of, until, step, opens } = atDesk()
  speaks(0, 2_000)
  const gaveUpAtMs: number[] = []
  for (let ms = 2_128; ms < 60_000; ms += 100) {
    until(ms)
    if (of('give_up').length > gaveUpAtMs.length) {
      gaveUpAtMs.push(ms)
      step({ type: 'closed', hung: true })
      opens()
    }
  }
  t.equal(gaveUpAtMs.length, 2)
  t.ok(gaveUpAtMs[0]! >= 8_000 && gaveUpAtMs[1]! - gaveUpAtMs[0]! >= 11_900, `${gaveUpAtMs}`)
  t.equal(of('no_words').length, 1)
})

t.test('one whose answers take long is not taken for one that hangs', async (t) => {
  const { speaks, words, of, until } = atDesk()
  for (let i = 0; i < 5; i++) {
    const startMs = i * 20_000
    speaks(startMs, startMs + 2_000)
    // As slow as it may be at first, and slower then.
    until(startMs + 2_128 + 5_900 + i * 1_000)
    words('Yes.', { startMs, endMs: startMs + 2_400 })
  }
  t.same(of('give_up'), [])
  t.equal(of('words').length, 5)
})

t.test('one that gives words as they are spoken owes what stays half known', async (t) => {
  const { speaks, words, owes, until, of } = atDesk({ interims: true })
  speaks(0, 1_000)
  t.notOk(owes(), 'no words so far: it may have been no speech')
  words('What are', undefined, 'interim')
  t.ok(owes())
  until(3_200)
  t.notOk(owes())
  until(20_000)
  t.equal(of('give_up').length, 1)
  t.match(of('no_words'), [{ startMs: 0, endMs: 1_000 }])
})

t.test('one that could give words as they are spoken and never does is taken for what it is', async (t) => {
  const { speaks, words, owes } = atDesk({ interims: true })
  speaks(0, 2_000)
  speaks(2_600, 4_000)
  words('I would like to book a table for two.', { startMs: 0, endMs: 2_400 })
  t.ok(owes())
  words('For tomorrow evening at eight.', { startMs: 2_300, endMs: 4_400 })
  t.notOk(owes())
  speaks(6_000, 6_500)
  words('Yes', undefined, 'interim')
  words('Yes.')
  speaks(8_000, 9_000)
  t.notOk(owes(), 'it does after all')
})

t.test('words without times are of the speech since the last ones', async (t) => {
  const { speaks, words, of } = atDesk({ interims: true })
  speaks(0, 1_000)
  words('One', undefined, 'interim')
  words('One.')
  speaks(5_000, 5_600)
  speaks(6_000, 7_000)
  words('Two three.')
  t.match(of('words').slice(1), [{ span: { startMs: 0, endMs: 1_000 } }, { span: { startMs: 5_000, endMs: 7_000 } }])
})

t.test('whatever comes in whatever order, finished speech ends in words, in noise or in a report', async (t) => {
  const span = fc.option(fc.tuple(fc.nat(30_000), fc.nat(5_000)), { nil: undefined })
  const step = fc.oneof(
    fc.record({ do: fc.constant('pass' as const), ms: fc.nat(4_000) }),
    fc.record({ do: fc.constant('speak' as const), ms: fc.integer({ min: 64, max: 4_000 }) }),
    fc.record({
      do: fc.constant('words' as const),
      type: fc.constantFrom('interim', 'final'),
      empty: fc.boolean(),
      span,
    }),
    fc.record({ do: fc.constantFrom('fail', 'hang', 'unknown') }),
  )
  fc.assert(
    fc.property(fc.boolean(), fc.boolean(), fc.array(step, { maxLength: 40 }), (interims, backed, steps) => {
      const desk = atDesk({ interims, backed })
      let nowMs = 0
      for (const one of steps) {
        if (one.do === 'pass') {
          nowMs += one.ms
          desk.until(nowMs)
        } else if (one.do === 'speak') {
          desk.speaks(nowMs, nowMs + one.ms)
          nowMs += one.ms + 128
        } else if (one.do === 'words') {
          const named = one.span && { startMs: one.span[0], endMs: one.span[0] + one.span[1] }
          desk.words(one.empty ? '' : 'words', named, one.type as 'interim' | 'final')
        } else if (one.do === 'unknown') desk.step({ type: 'unknown', message: 'Set a real one' })
        else {
          desk.step({ type: 'closed', hung: one.do === 'hang' })
          desk.opens()
        }
        for (const { span: of } of desk.of('words') as { span: Span }[])
          if (!(of.startMs <= of.endMs && of.endMs <= Math.max(nowMs, 0))) throw new Error(JSON.stringify(of))
      }
      desk.until(nowMs + 200_000)
      t.notOk(desk.owes())
      t.same(desk.state().speech, [], 'none is waited for any more')
      t.equal(recognitionDueAtMs(desk.state(), nowMs + 200_000), undefined)
    }),
    { numRuns: 300 },
  )
})

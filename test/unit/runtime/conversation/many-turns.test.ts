import { test } from 'tap'
import { call } from './support/harness.ts'
import { ScriptedLlm, ScriptedStt, ToneTts } from './support/providers.ts'

const TURNS = 60

test('sixty typed turns in a row, each of which cuts the answer before it off, are answered from all that was said', async (t) => {
  const model = new ScriptedLlm((words) => `Noted ${words}.`)
  const { port, type, hangUp } = await call({
    providers: { stt: new ScriptedStt({ utterances: [] }), llm: model, tts: new ToneTts() },
  })
  t.teardown(hangUp)
  const questions = Array.from({ length: TURNS }, (_, i) => `question ${i + 1}`)
  for (const question of questions) {
    const { loudFrames } = port
    type(question)
    await port.until(
      `${question} is answered aloud`,
      () => model.asked.includes(question) && port.loudFrames > loudFrames,
    )
  }
  await port.until('the last was answered', () => port.said.at(-1) === `assistant: Noted question ${TURNS}.`)
  t.same(
    port.turns.flatMap(({ turn }) => (turn.role === 'user' ? [turn.text] : [])),
    questions,
    'each is a turn, in order, once',
  )
  const asked = model.contexts.findLast((_, i) => model.asked[i] === questions.at(-1))
  const past = asked?.items.flatMap((item) =>
    item.type === 'message' && item.role === 'user' ? [item.textContent] : [],
  )
  t.same(past, questions, 'the model has all of them in its last request')
  t.equal(model.asked.length, TURNS, 'each is asked for once')
  t.same(port.faults, [])
})

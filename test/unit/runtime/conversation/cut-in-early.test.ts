import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'tap'
import { call, RATE_HZ } from './support/harness.ts'
import { ScriptedLlm, ScriptedStt, ToneTts } from './support/providers.ts'
import { speech } from './support/speech.ts'

/** Callers who go on before the agent's first sound, or just after it. */

const QUESTION = 'What are your opening hours?'
const TYPED_AFTER_MS = Array.from({ length: 20 }, (_, i) => i * 10)
const SPOKEN_AFTER_MS = [0, 40, 80, 120, 200, 400]

const callOf = () =>
  call({
    providers: {
      stt: new ScriptedStt({ utterances: [QUESTION] }),
      llm: new ScriptedLlm((words) => `To ${words}`),
      tts: new ToneTts(),
    },
    agent: { firstMessage: '' },
  })

type Running = Awaited<ReturnType<typeof callOf>>

const isAnswered = ({ port }: Running, question: string) => port.said.at(-1) === `assistant: To ${question}`

for (const [how, timesMs] of [
  ['types', TYPED_AFTER_MS],
  ['speaks', SPOKEN_AFTER_MS],
] as const) {
  test(`a caller who ${how} again before the agent's first sound is answered, whatever the moment`, {
    timeout: 300_000,
  }, async (t) => {
    await Promise.all(
      timesMs.map(async (afterMs) => {
        const running = await callOf()
        t.teardown(running.hangUp)
        const { port, type, say, failures } = running
        const second = how === 'types' ? 'the second one.' : QUESTION
        type('the first one.')
        await sleep(afterMs)
        if (how === 'types') type(second)
        else void say(speech(second, RATE_HZ))
        await port.until(`what came after ${afterMs} ms is answered`, () => isAnswered(running, second))
        type('the last one.')
        await port.until('so is what comes next', () => isAnswered(running, 'the last one.'))
        await port.until('the agent listens', () => port.states.at(-1) === 'listening')
        const asked = port.turns.flatMap(({ turn }) => (turn.role === 'user' ? [turn.text] : []))
        t.strictSame(asked, ['the first one.', second, 'the last one.'], `after ${afterMs} ms`)
        t.strictSame([failures, port.endings], [[], []], `after ${afterMs} ms`)
      }),
    )
  })
}

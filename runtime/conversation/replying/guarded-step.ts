import type { llm } from '@livekit/agents'
import type { AnswerGuard } from '../guarding/answer-guard.ts'
import { guardAnswer, SENTENCE_END } from '../guarding/guard-answer.ts'
import { sourcesOf, withRefusal } from './answer-pieces.ts'

interface Step {
  calls: llm.FunctionCall[]
  saidWords: boolean
}

/** One request to a language model whose words are checked; of an answer that is refused its tools are not called. */
export async function* guardedStep(
  checks: AnswerGuard | undefined,
  context: llm.ChatContext,
  ask: (context: llm.ChatContext) => AsyncGenerator<string, Step>,
): AsyncGenerator<string, Step> {
  if (checks === undefined) return yield* ask(context)
  let made: Step = { calls: [], saidWords: false }
  const source = {
    async open(again?: { said: string; reason: string }) {
      const asked = ask(again === undefined ? context : withRefusal(context, again))
      made = { calls: [], saidWords: true }
      return (async function* () {
        made = yield* asked
      })()
    },
    textOf: (piece: string) => piece,
    withText: (_piece: string | undefined, text: string) => text,
    callsTool: () => false,
  }
  for await (const piece of guardAnswer(checks.guard, sourcesOf(context), source, checks.phrase, checks.refused)) {
    const text = piece.replaceAll(SENTENCE_END, '')
    if (text !== '') yield text
  }
  return made
}

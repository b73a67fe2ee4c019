import type { Guard, GuardedAnswer } from './guard.ts'
import { type Refusal, reasonOf } from './refusal.ts'

/** Ends a sentence before its successor is known: voices begin with it. */
export const SENTENCE_END = '\u2029'

/** What was done about a sentence that is not said. */
export type GuardAction = 'regenerated' | 'phrase' | 'cut'

export interface AnswerSource<C> {
  /** The model's answer; `again`: what was said of the first one, and why it was stopped. */
  open(again?: { said: string; reason: string }): Promise<AsyncIterable<C> | null>
  /** The words of a piece; undefined: it has none. */
  textOf(piece: C): string | undefined
  /** A piece with these words alone. */
  withText(piece: C | undefined, text: string): C
  /** The piece calls a tool: the answer is not made again behind it. */
  callsTool(piece: C): boolean
}

/**
 * The pieces of an answer that may be said. A sentence that breaks a rule ends it: the model answers once more, knowing why; where that
 * breaks one, too, the set phrase is said. Of an answer that is too long the rest is left out.
 */
export async function* guardAnswer<C>(
  guard: Guard,
  sources: readonly string[],
  source: AnswerSource<C>,
  phrase: () => string,
  refused: (refusal: Refusal, action: GuardAction) => void,
): AsyncGenerator<C, void> {
  let again: { said: string; reason: string } | undefined
  for (;;) {
    const answer = guard.answer(again === undefined ? sources : [...sources, again.said])
    const pieces = await source.open(again)
    if (pieces === null) return
    const outcome = yield* guarded(answer, pieces, source)
    if (outcome.refused === undefined) return
    if (outcome.refused.rule === 'max_sentences') {
      refused(outcome.refused, 'cut')
      return
    }
    const isLast = again !== undefined || outcome.calledTool
    refused(outcome.refused, isLast ? 'phrase' : 'regenerated')
    if (isLast) {
      const text = phrase()
      if (text !== '')
        yield source.withText(undefined, `${answer.said === '' || /\s$/.test(answer.said) ? '' : ' '}${text}`)
      return
    }
    again = { said: answer.said.trim(), reason: reasonOf(outcome.refused) }
  }
}

async function* guarded<C>(
  answer: GuardedAnswer,
  pieces: AsyncIterable<C>,
  { textOf, withText, callsTool }: AnswerSource<C>,
): AsyncGenerator<C, { refused?: Refusal; calledTool: boolean }> {
  let calledTool = false
  for await (const piece of pieces) {
    const words = textOf(piece)
    if (callsTool(piece)) {
      const { text, refused } = answer.end()
      if (refused !== undefined) return { refused, calledTool }
      if (text !== '') yield withText(undefined, text)
      calledTool = true
    }
    if (words === undefined || words === '') {
      yield piece
      continue
    }
    const { text, refused, endsSentence } = answer.push(words)
    if (text !== '' || callsTool(piece)) yield withText(piece, endsSentence ? `${text}${SENTENCE_END}` : text)
    if (refused !== undefined) return { refused, calledTool }
  }
  const { text, refused } = answer.end()
  if (text !== '') yield withText(undefined, text)
  return { calledTool, ...(refused === undefined ? {} : { refused }) }
}

import { TransformStream } from 'node:stream/web'
import { llm, type voice } from '@livekit/agents'
import { hasWords } from '../../plugin-sdk/speech/sentences.ts'
import type { AnswerSource } from '../guarding/guard-answer.ts'
import { SpokenMarkup } from '../speaking/spoken-markup.ts'

/** A piece of an answer as the session has it. */
type Stream = NonNullable<Awaited<ReturnType<voice.Agent['llmNode']>>>
type Piece = Stream extends { values(): AsyncIterable<infer P> } ? P : never

/** How the guardrails see the pieces of an answer of @livekit/agents. */
export const ANSWER_PIECES: Omit<AnswerSource<Piece>, 'open'> = {
  textOf: (piece) => (typeof piece === 'string' ? piece : isChunk(piece) ? piece.delta?.content : undefined),
  withText: (piece, text) =>
    piece !== undefined && isChunk(piece)
      ? { ...piece, delta: { role: 'assistant', ...piece.delta, content: text } }
      : text,
  callsTool: (piece) => isChunk(piece) && (piece.delta?.toolCalls?.length ?? 0) > 0,
}

/**
 * Writes an answer as it is spoken: voice, record and the model's own memory have the same words, without markup.
 * @param nothingSaid in place of an answer that is code alone
 */
export function spokenPieces(language: string, nothingSaid: string): TransformStream<Piece, Piece> {
  const { textOf, withText, callsTool } = ANSWER_PIECES
  const markup = new SpokenMarkup(language)
  let wrote = false
  let said = false
  /** Without a letter or a digit: it waits for words, and is nothing without them. */
  let held = ''
  const spoken = (text: string): string => {
    if (said) return text
    held += text
    if (!hasWords(held)) return ''
    said = true
    return held
  }
  return new TransformStream({
    transform(piece, controller) {
      const words = textOf(piece)
      if (callsTool(piece)) {
        const rest = spoken(markup.flush())
        said = true
        if (rest !== '') controller.enqueue(withText(undefined, rest))
      }
      if (words === undefined || words === '') {
        controller.enqueue(piece)
        return
      }
      wrote ||= hasWords(words)
      const text = spoken(markup.push(words))
      if (text !== '' || typeof piece !== 'string') controller.enqueue(withText(piece, text))
    },
    flush(controller) {
      const rest = spoken(markup.flush())
      if (rest !== '') controller.enqueue(rest)
      if (wrote && !said) controller.enqueue(nothingSaid)
    },
  })
}

const isChunk = (piece: Piece): piece is Extract<Piece, llm.ChatChunk> =>
  typeof piece === 'object' && piece !== null && 'id' in piece

/** What an answer may repeat: the prompt, notes, what tools returned, and what the agent said. What the caller says is no ground. */
export function sourcesOf({ items }: llm.ChatContext): string[] {
  return items.flatMap((item) => {
    if (item.type === 'function_call_output') return [item.output]
    return item.type === 'message' && item.role !== 'user' ? [item.textContent ?? ''] : []
  })
}

/** The context with what was said of an answer, and why it was stopped. */
export function withRefusal(
  context: llm.ChatContext,
  { said, reason }: { said: string; reason: string },
): llm.ChatContext {
  const again = context.copy()
  const createdAt = (context.items.at(-1)?.createdAt ?? 0) + 1
  const message = (role: 'assistant' | 'system', content: string) =>
    llm.ChatMessage.create({ role, content, createdAt })
  again.items.push(...(said === '' ? [] : [message('assistant', said)]), message('system', reason))
  return again
}

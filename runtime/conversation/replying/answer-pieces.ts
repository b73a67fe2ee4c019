import { llm, type voice } from '@livekit/agents'
import type { AnswerSource } from '../guarding/guard-answer.ts'

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

import Type, { type Static } from 'typebox'
import type { Usage } from '../../runtime/call/types/usage.ts'
import { Nullable } from '../schema.ts'

const Known = (description: string) =>
  Nullable(Type.Integer({ description: `${description}; null where the provider says nothing of it.` }))

/** The tokens of language models by what they cost. */
export const TokenParts = {
  input: Type.Object({
    fresh: Type.Integer({ description: 'Tokens of text read at the full price.' }),
    cached_read: Known('Tokens read from a cache'),
    cache_write: Known('Tokens written to a cache'),
    audio: Known('Tokens of the caller’s sound, those from a cache included'),
  }),
  output: Type.Object({
    text: Type.Integer({ description: 'Tokens of the answers and of tool calls.' }),
    reasoning: Known('Tokens the model thought'),
    audio: Known('Tokens of the model’s own voice'),
  }),
  estimated_tokens: Type.Integer({
    description:
      'Of all tokens, those estimated by the length of the text: of answers that were cut off or thrown away.',
  }),
}
const Body = Type.Object(TokenParts)

export function tokenParts(usage: Usage | undefined): Static<typeof Body> {
  const { llmInputTokens = 0, llmOutputTokens = 0, llmEstimatedTokens = 0 } = usage ?? {}
  const { llmCachedReadTokens: read, llmCacheWriteTokens: written, llmReasoningTokens: thought } = usage ?? {}
  const { llmAudioInputTokens: heard, llmAudioOutputTokens: spoken, llmCachedAudioTokens: again = 0 } = usage ?? {}
  const whole = (tokens: number | undefined) => (tokens === undefined ? null : Math.round(tokens))
  return {
    input: {
      fresh: Math.max(0, Math.round(llmInputTokens - (read ?? 0) - (written ?? 0) - ((heard ?? 0) - again))),
      cached_read: whole(read),
      cache_write: whole(written),
      audio: whole(heard),
    },
    output: {
      text: Math.max(0, Math.round(llmOutputTokens - (thought ?? 0) - (spoken ?? 0))),
      reasoning: whole(thought),
      audio: whole(spoken),
    },
    estimated_tokens: Math.round(llmEstimatedTokens),
  }
}

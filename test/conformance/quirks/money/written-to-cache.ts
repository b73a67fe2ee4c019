import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'tokens written to a cache are part of the input',
  report: 'anthropics/anthropic-sdk: cache_creation_input_tokens',
  answers: [{ parts: [{ text: 'Yes.' }], usage: { input: 10_500, output: 3, cached: 9_000, written: 1_000 } }],
  providers: ['openai', 'anthropic', 'deno'],
  check(t, got) {
    t.match(got.spent, [{ inputTokens: 10_500, cachedReadTokens: 9_000, cacheWriteTokens: 1_000 }])
  },
} satisfies AnswerQuirk

import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'tokens read from a cache are part of the input, and told apart',
  report: 'BerriAI/litellm: cached tokens billed as fresh',
  answers: [{ parts: [{ text: 'Yes.' }], usage: { input: 10_000, output: 30, cached: 9_000, reasoning: 20 } }],
  check(t, got) {
    t.match(got.spent, [
      { inputTokens: 10_000, outputTokens: 30, cachedReadTokens: 9_000, reasoningTokens: 20, isEstimated: false },
    ])
  },
} satisfies AnswerQuirk

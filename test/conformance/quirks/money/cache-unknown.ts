import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'what a provider says nothing of is unknown, not zero',
  report: 'tried',
  answers: [{ parts: [{ text: 'Yes.' }], usage: { input: 100, output: 3 } }],
  check(t, got) {
    t.equal(got.spent[0]?.inputTokens, 100)
    t.equal(got.spent[0]?.cacheWriteTokens, undefined)
    t.equal(got.spent[0]?.reasoningTokens, undefined)
  },
} satisfies AnswerQuirk

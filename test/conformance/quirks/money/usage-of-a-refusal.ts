import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'a request that was refused costs nothing',
  report: 'tried',
  answers: [(dialect) => dialect.refusal(400, 'The request is not valid')],
  providers: ['openai', 'anthropic', 'google'],
  check(t, got) {
    t.match(got.spent, [{ inputTokens: 0, outputTokens: 0, isEstimated: false }])
  },
} satisfies AnswerQuirk

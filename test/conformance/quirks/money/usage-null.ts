import { completion } from '../support/completion.ts'
import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'usage is null',
  report: 'tried',
  providers: ['openai'],
  answers: [completion([{ content: 'Yes.' }], 'stop', [null])],
  check(t, got) {
    t.match(got.spent, [{ isEstimated: true }])
  },
} satisfies AnswerQuirk

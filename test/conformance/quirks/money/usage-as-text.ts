import { completion } from '../support/completion.ts'
import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'counts are written as text',
  report: 'tried',
  providers: ['openai'],
  answers: [completion([{ content: 'Yes.' }], 'stop', [{ prompt_tokens: '20', completion_tokens: '2' }])],
  check(t, got) {
    t.match(got.spent, [{ inputTokens: 20, outputTokens: 2 }])
  },
} satisfies AnswerQuirk

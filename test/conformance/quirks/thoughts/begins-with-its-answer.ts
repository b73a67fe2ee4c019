import { completion } from '../support/completion.ts'
import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'a model that may begin in its thoughts has none this time',
  report: 'tried',
  providers: ['openai'],
  answers: [completion([{ content: 'With ' }, { content: 'pleasure.' }], 'stop')],
  model: 'qwen3-4b-thinking',
  check(t, got) {
    t.equal(got.text, 'With pleasure.')
  },
} satisfies AnswerQuirk

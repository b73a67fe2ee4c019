import { completion } from '../support/completion.ts'
import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'thoughts stand in the channel analysis',
  report: 'openai/harmony without a parser',
  providers: ['openai'],
  answers: [
    completion(
      [
        '<|channel|>analysis<|message|>They want a room.<|end|><|start|>assistant<|channel|>final<|message|>With pleasure.<|return|>',
      ].map((content) => ({ content })),
      'stop',
    ),
  ],
  check(t, got) {
    t.equal(got.text.trim(), 'With pleasure.')
  },
} satisfies AnswerQuirk

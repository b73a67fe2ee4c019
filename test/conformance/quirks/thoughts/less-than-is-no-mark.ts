import { completion } from '../support/completion.ts'
import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'a sign that could begin a mark and doesn’t is spoken',
  report: 'tried',
  providers: ['openai'],
  answers: [
    completion(
      [...'3 < 5, and <b is no tag'].map((content) => ({ content })),
      'stop',
    ),
  ],
  check(t, got) {
    t.equal(got.text, '3 < 5, and <b is no tag')
  },
} satisfies AnswerQuirk

import { completion } from '../support/completion.ts'
import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'content is a list of parts, thoughts among them',
  report: 'mistralai: magistral content chunks',
  providers: ['openai'],
  answers: [
    completion(
      [
        { content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] }] },
        { content: [{ type: 'text', text: 'Yes.' }] },
      ],
      'stop',
    ),
  ],
  check(t, got) {
    t.equal(got.text, 'Yes.')
  },
} satisfies AnswerQuirk

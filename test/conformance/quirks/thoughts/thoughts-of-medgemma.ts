import { completion } from '../support/completion.ts'
import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'thoughts stand between <unused94> and <unused95>',
  report: 'tried: servers without a reasoning parser',
  providers: ['openai'],
  answers: [
    completion(
      [...'<unused94>They want a room.<unused95>\n\nWith pleasure.'].map((content) => ({ content })),
      'stop',
    ),
  ],
  check(t, got) {
    t.equal(got.text.trim(), 'With pleasure.')
    t.match(got.faults.join(), /thoughts of the model/, 'the log names the server’s switch')
  },
} satisfies AnswerQuirk

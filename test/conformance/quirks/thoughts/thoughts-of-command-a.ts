import { completion } from '../support/completion.ts'
import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'thoughts stand between <|START_THINKING|> and <|END_THINKING|>',
  report: 'tried: servers without a reasoning parser',
  providers: ['openai'],
  answers: [
    completion(
      [...'<|START_THINKING|>They want a room.<|END_THINKING|>\n\nWith pleasure.'].map((content) => ({ content })),
      'stop',
    ),
  ],
  check(t, got) {
    t.equal(got.text.trim(), 'With pleasure.')
    t.match(got.faults.join(), /thoughts of the model/, 'the log names the server’s switch')
  },
} satisfies AnswerQuirk

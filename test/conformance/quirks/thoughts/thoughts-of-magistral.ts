import { completion } from '../support/completion.ts'
import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'thoughts stand between [THINK] and [/THINK]',
  report: 'tried: servers without a reasoning parser',
  providers: ['openai'],
  answers: [
    completion(
      [...'[THINK]They want a room.[/THINK]\n\nWith pleasure.'].map((content) => ({ content })),
      'stop',
    ),
  ],
  check(t, got) {
    t.equal(got.text.trim(), 'With pleasure.')
    t.match(got.faults.join(), /thoughts of the model/, 'the log names the server’s switch')
  },
} satisfies AnswerQuirk

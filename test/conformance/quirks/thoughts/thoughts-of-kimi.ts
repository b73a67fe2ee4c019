import { completion } from '../support/completion.ts'
import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'thoughts stand between ◁think▷ and ◁/think▷',
  report: 'tried: servers without a reasoning parser',
  providers: ['openai'],
  answers: [
    completion(
      [...'◁think▷They want a room.◁/think▷\n\nWith pleasure.'].map((content) => ({ content })),
      'stop',
    ),
  ],
  check(t, got) {
    t.equal(got.text.trim(), 'With pleasure.')
    t.match(got.faults.join(), /thoughts of the model/, 'the log names the server’s switch')
  },
} satisfies AnswerQuirk

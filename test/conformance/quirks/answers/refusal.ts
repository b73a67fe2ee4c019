import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'a refusal without words is asked once more and told',
  report: 'anthropics/anthropic-sdk: stop_reason refusal',
  answers: [{ stop: 'refusal' }, { parts: [{ text: 'With pleasure.' }] }],
  check(t, got) {
    t.equal(got.text, 'With pleasure.')
    t.match(got.faults.join(), /refused|blocked/)
  },
} satisfies AnswerQuirk

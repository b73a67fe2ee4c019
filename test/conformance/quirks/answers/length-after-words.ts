import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'an answer that the limit cut off is told as such',
  report: 'tried',
  answers: [{ parts: [{ text: 'We have three rooms, the first' }], stop: 'length' }],
  check(t, got) {
    t.equal(got.text, 'We have three rooms, the first')
    t.match(got.faults, [/limit of tokens was reached/])
  },
} satisfies AnswerQuirk

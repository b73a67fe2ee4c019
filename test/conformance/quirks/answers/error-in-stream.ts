import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'an error in the stream is no end of the answer',
  report: 'tried: "error" alone after half a sentence',
  answers: [
    { parts: [{ text: 'We have ' }], error: { status: 503, message: 'overloaded' } },
    { parts: [{ text: 'rooms.' }] },
  ],
  check(t, got) {
    t.equal(got.text, 'We have rooms.')
    t.equal(got.faults.length, 1)
  },
} satisfies AnswerQuirk

import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'a block by the filter in the middle is told, and what was said stays',
  report: 'tried',
  answers: [{ parts: [{ text: 'Let me see' }], stop: 'safety' }],
  check(t, got) {
    t.equal(got.text, 'Let me see')
    t.match(got.faults.join(), /not whole/)
  },
} satisfies AnswerQuirk

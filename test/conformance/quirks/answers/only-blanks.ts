import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'an answer of blanks is none',
  report: 'tried',
  answers: [{ parts: [{ text: '   \n' }] }, { parts: [{ text: 'With pleasure.' }] }],
  check(t, got) {
    t.match(got.text, /With pleasure\.$/)
    t.match(got.faults, [/gave no words/])
  },
} satisfies AnswerQuirk

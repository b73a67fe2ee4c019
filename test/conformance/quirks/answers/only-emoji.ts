import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'an answer of a picture alone is none',
  report: 'tried',
  answers: [{ parts: [{ text: '🙂' }] }, { parts: [{ text: 'With pleasure.' }] }],
  check(t, got) {
    t.match(got.text, /With pleasure\.$/)
    t.match(got.faults, [/gave no words/])
  },
} satisfies AnswerQuirk

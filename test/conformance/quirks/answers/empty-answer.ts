import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'an answer without words is asked for once more',
  report: 'openai/openai-openapi: empty content with finish_reason stop',
  answers: [{ parts: [] }, { parts: [{ text: 'With pleasure.' }] }],
  check(t, got) {
    t.equal(got.text, 'With pleasure.')
    t.match(got.faults, [/gave no words/])
  },
} satisfies AnswerQuirk

import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'thoughts that a provider marks as such are not spoken',
  report: 'deepseek, vLLM: reasoning_content',
  answers: [{ parts: [{ thought: 'They want a room. ' }, { text: 'With pleasure.' }] }],
  check(t, got) {
    t.equal(got.text, 'With pleasure.')
    t.same(got.faults, [])
  },
} satisfies AnswerQuirk

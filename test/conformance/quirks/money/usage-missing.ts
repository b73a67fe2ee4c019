import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'an answer without usage is estimated and marked',
  report: 'ollama, llama.cpp: no usage in streams',
  answers: [{ parts: [{ text: 'We are open from nine to five.' }] }],
  check(t, got) {
    const [spent] = got.spent
    t.equal(spent?.isEstimated, true)
    t.ok((spent?.inputTokens ?? 0) > 5 && (spent?.outputTokens ?? 0) > 5)
  },
} satisfies AnswerQuirk

import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'Gemini 2.5 has a budget of zero',
  report: 'vendor SDK',
  answers: [{ parts: [{ text: 'With pleasure.' }] }],
  providers: ['google'],
  model: 'gemini-2.5-flash',
  check(t, got) {
    const [body = {}] = got.bodies
    t.match(body, { generationConfig: { thinkingConfig: { thinkingBudget: 0 } } })
  },
} satisfies AnswerQuirk

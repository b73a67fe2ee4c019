import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'gpt-6 that thinks gets no temperature',
  report: 'vendor SDK',
  answers: [{ parts: [{ text: 'With pleasure.' }] }],
  providers: ['openai'],
  model: 'gpt-6-luna',
  temperature: 0.7,
  options: { reasoningEffort: 'high' },
  check(t, got) {
    const [body = {}] = got.bodies
    t.match(body, { reasoning_effort: 'high' })
    t.notOk('temperature' in body)
  },
} satisfies AnswerQuirk

import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'gpt-6 gets tools with no effort, and so takes a temperature',
  report: 'vendor SDK; BerriAI/litellm#34569',
  answers: [{ parts: [{ text: 'With pleasure.' }] }],
  providers: ['openai'],
  model: 'gpt-6-luna',
  hasTools: true,
  temperature: 0.7,
  options: { reasoningEffort: 'high' },
  check(t, got) {
    const [body = {}] = got.bodies
    t.match(body, { reasoning_effort: 'none', temperature: 0.7 })
  },
} satisfies AnswerQuirk

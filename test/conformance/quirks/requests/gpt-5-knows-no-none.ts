import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'gpt-5 is asked for minimal effort where none is wanted',
  report: 'vendor SDK',
  answers: [{ parts: [{ text: 'With pleasure.' }] }],
  providers: ['openai'],
  model: 'gpt-5-mini',
  temperature: 0.7,
  options: { reasoningEffort: 'none' },
  check(t, got) {
    const [body = {}] = got.bodies
    t.match(body, { reasoning_effort: 'minimal' })
    t.notOk('temperature' in body)
  },
} satisfies AnswerQuirk

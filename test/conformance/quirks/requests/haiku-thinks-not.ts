import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'Haiku 5.5 is told not to think',
  report: 'vendor SDK',
  answers: [{ parts: [{ text: 'With pleasure.' }] }],
  providers: ['anthropic'],
  model: 'claude-haiku-5-5',
  temperature: 0.7,
  check(t, got) {
    const [body = {}] = got.bodies
    t.match(body, { thinking: { type: 'disabled' } })
    t.notOk('temperature' in body)
  },
} satisfies AnswerQuirk

import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'Opus 4.8 takes no temperature, Opus 4.6 does',
  report: 'vendor SDK',
  answers: [{ parts: [{ text: 'With pleasure.' }] }],
  providers: ['anthropic'],
  model: 'claude-opus-4-8',
  temperature: 0.7,
  check(t, got) {
    const [body = {}] = got.bodies
    t.notOk('temperature' in body)
  },
} satisfies AnswerQuirk

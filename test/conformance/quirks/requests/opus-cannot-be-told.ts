import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'Opus 5.5 can’t be told not to think: a low effort alone is sent',
  report: 'vendor SDK',
  answers: [{ parts: [{ text: 'With pleasure.' }] }],
  providers: ['anthropic'],
  model: 'claude-opus-5-5',
  check(t, got) {
    const [body = {}] = got.bodies
    t.notOk('thinking' in body)
    t.match(body, { output_config: { effort: 'low' } })
  },
} satisfies AnswerQuirk

import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'Google is told to keep nothing',
  report: 'vendor SDK: store',
  answers: [{ parts: [{ text: 'With pleasure.' }] }],
  providers: ['google'],
  check(t, got) {
    const [body = {}] = got.bodies
    t.equal(body.store, false)
  },
} satisfies AnswerQuirk

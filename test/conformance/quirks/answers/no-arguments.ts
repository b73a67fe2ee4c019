import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'a call without arguments is a call',
  report: 'vercel/ai and others: empty string for no arguments',
  answers: [{ parts: [{ call: { id: 'c1', name: 'book', args: '' } }] }],
  hasTools: true,
  check(t, got) {
    t.same(
      got.calls.map(({ args }) => args),
      ['{}'],
    )
  },
} satisfies AnswerQuirk

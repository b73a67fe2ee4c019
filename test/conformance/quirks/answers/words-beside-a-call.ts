import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'words beside a call are spoken once',
  report: 'tried',
  answers: [{ parts: [{ text: 'One moment.' }, { call: { id: 'c1', name: 'book', args: '{}' } }] }],
  hasTools: true,
  check(t, got) {
    t.equal(got.text, 'One moment.')
    t.equal(got.calls.length, 1)
  },
} satisfies AnswerQuirk

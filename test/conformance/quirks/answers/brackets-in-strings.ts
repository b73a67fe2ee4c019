import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'brackets and quotes inside of strings cut nothing off',
  report: 'tried',
  answers: [
    { parts: [{ call: { id: 'c1', name: 'book', args: JSON.stringify({ note: 'a "quoted" {bracket [and it’s}' }) } }] },
  ],
  hasTools: true,
  check(t, got) {
    t.same(JSON.parse(got.calls[0]?.args ?? '{}'), { note: 'a "quoted" {bracket [and it’s}' })
    t.same(got.faults, [])
  },
} satisfies AnswerQuirk

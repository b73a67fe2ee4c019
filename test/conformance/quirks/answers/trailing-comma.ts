import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'a comma behind the last argument is no cut',
  report: 'tried',
  answers: [{ parts: [{ call: { id: 'c1', name: 'book', args: '{"guests": 2,}' } }] }],
  hasTools: true,
  providers: ['openai', 'anthropic', 'deno'],
  check(t, got) {
    t.equal(got.calls.length, 1)
    t.same(got.faults, [])
  },
} satisfies AnswerQuirk

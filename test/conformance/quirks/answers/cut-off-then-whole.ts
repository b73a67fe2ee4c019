import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'a call that was cut off is asked for once more',
  report: 'tried',
  answers: [
    { parts: [{ call: { id: 'c1', name: 'book', args: '{"gue' } }] },
    { parts: [{ call: { id: 'c2', name: 'book', args: '{"guests":2}' } }] },
  ],
  hasTools: true,
  providers: ['openai', 'anthropic', 'deno'],
  check(t, got) {
    t.same(got.calls, [{ id: 'c2', name: 'book', args: '{"guests":2}' }])
    t.equal(got.faults.length, 1)
  },
} satisfies AnswerQuirk

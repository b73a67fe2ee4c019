import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'arguments that end in an open string are never sent',
  report: 'tried: a stream that ends after {"order_id":"1',
  answers: [{ parts: [{ call: { id: 'c1', name: 'book', args: '{"order_id":"1' } }] }],
  hasTools: true,
  providers: ['openai', 'anthropic', 'deno'],
  check(t, got) {
    t.same(got.calls, [], 'nothing is called')
    t.match(got.faults.join(), /cut off/)
  },
} satisfies AnswerQuirk

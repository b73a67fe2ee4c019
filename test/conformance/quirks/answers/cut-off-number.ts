import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'arguments that end in a number without a bracket are never sent',
  report: 'vllm-project/vllm#53269',
  answers: [{ parts: [{ call: { id: 'c1', name: 'book', args: '{"amount": 12' } }] }],
  hasTools: true,
  providers: ['openai', 'anthropic', 'deno'],
  check(t, got) {
    t.same(got.calls, [], 'nothing is called')
    t.match(got.faults.join(), /cut off/)
  },
} satisfies AnswerQuirk

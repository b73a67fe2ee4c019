import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'arguments of the past that are no JSON don’t spoil the next request',
  report: 'vllm-project/vllm: json.loads of past arguments fails',
  answers: [{ parts: [{ text: 'With pleasure.' }] }],
  hasTools: true,
  messages: [
    { role: 'user', content: 'Book.' },
    { role: 'tool_call', id: 'c1', name: 'book', arguments: 'oops {' },
    { role: 'tool_result', id: 'c1', name: 'book', content: 'wrong arguments' },
    { role: 'user', content: 'Still there?' },
  ],
  providers: ['openai', 'anthropic', 'google'],
  check(t, got) {
    t.equal(got.text, 'With pleasure.')
    t.notMatch(JSON.stringify(got.bodies[0]), /oops/)
  },
} satisfies AnswerQuirk

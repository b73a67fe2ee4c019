import { completion } from '../support/completion.ts'
import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'a call ends with finish_reason stop',
  report: 'vllm-project/vllm#9209',
  providers: ['openai'],
  answers: [
    completion(
      [{ tool_calls: [{ index: 0, id: 'c1', type: 'function', function: { name: 'book', arguments: '{}' } }] }],
      'stop',
    ),
  ],
  hasTools: true,
  check(t, got) {
    t.equal(got.calls.length, 1)
  },
} satisfies AnswerQuirk

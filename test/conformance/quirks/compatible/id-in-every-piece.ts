import { completion } from '../support/completion.ts'
import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'the id and the name come with every piece of a call',
  report: 'sgl-project/sglang#7117',
  providers: ['openai'],
  answers: [
    completion(
      [
        { tool_calls: [{ index: 0, id: 'c1', type: 'function', function: { name: 'book', arguments: '{"gue' } }] },
        { tool_calls: [{ index: 0, id: 'c1', type: 'function', function: { name: 'book', arguments: 'sts":2}' } }] },
      ],
      'tool_calls',
    ),
  ],
  hasTools: true,
  check(t, got) {
    t.same(got.calls, [{ id: 'c1', name: 'book', args: '{"guests":2}' }])
  },
} satisfies AnswerQuirk

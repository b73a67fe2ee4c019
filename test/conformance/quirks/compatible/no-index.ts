import { completion } from '../support/completion.ts'
import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'calls have no index',
  report: 'ollama/ollama#7881',
  providers: ['openai'],
  answers: [
    completion(
      [
        { tool_calls: [{ id: 'c1', type: 'function', function: { name: 'book', arguments: '{"guests":1}' } }] },
        { tool_calls: [{ id: 'c2', type: 'function', function: { name: 'book', arguments: '{"guests":2}' } }] },
        { tool_calls: [{ id: 'c3', type: 'function', function: { name: 'book', arguments: '{"guests":3}' } }] },
      ],
      'tool_calls',
    ),
  ],
  hasTools: true,
  check(t, got) {
    t.same(
      got.calls.map(({ args }) => JSON.parse(args)),
      [{ guests: 1 }, { guests: 2 }, { guests: 3 }],
    )
    t.equal(new Set(got.calls.map(({ id }) => id)).size, 3)
  },
} satisfies AnswerQuirk

import { completion } from '../support/completion.ts'
import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'arguments are an object instead of text',
  report: 'ollama: native tool calls through proxies',
  providers: ['openai'],
  answers: [
    completion(
      [
        {
          tool_calls: [{ index: 0, id: 'c1', type: 'function', function: { name: 'book', arguments: { guests: 2 } } }],
        },
      ],
      'tool_calls',
    ),
  ],
  hasTools: true,
  check(t, got) {
    t.same(
      got.calls.map(({ args }) => JSON.parse(args)),
      [{ guests: 2 }],
    )
  },
} satisfies AnswerQuirk

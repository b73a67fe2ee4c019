import { completion } from '../support/completion.ts'
import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'several calls among the words are made, each once, as a list or one by one',
  report: 'vllm-project/vllm#27572',
  providers: ['openai'],
  answers: [
    completion(
      [
        {
          content:
            '<tool_call>[{"name": "book", "arguments": {"guests": 1}}, {"name": "book", "arguments": {"guests": 2}}]</tool_call>',
        },
        { content: '<tool_call>{"name": "book", "arguments": "{\\"guests\\": 3}"}</tool_call>' },
      ],
      'stop',
    ),
  ],
  hasTools: true,
  check(t, got) {
    t.same(
      got.calls.map(({ name, args }) => [name, JSON.parse(args)]),
      [1, 2, 3].map((guests) => ['book', { guests }]),
    )
    t.equal(new Set(got.calls.map(({ id }) => id)).size, 3)
    t.equal(got.text, '')
  },
} satisfies AnswerQuirk

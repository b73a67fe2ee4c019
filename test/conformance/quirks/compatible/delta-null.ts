import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'a delta is null, and a chunk has no choices',
  report: 'Azure OpenAI: prompt_filter_results',
  providers: ['openai'],
  answers: [
    {
      pieces: [
        'data: {"prompt_filter_results":[]}\n\n',
        'data: {"choices":[]}\n\n',
        'data: {"choices":[{"index":0,"delta":null,"finish_reason":null}]}\n\n',
        'data: {"choices":[{"index":0,"delta":{"content":"Yes."},"finish_reason":null}]}\n\n',
        'data: {"choices":[{"index":0,"finish_reason":"stop"}]}\n\n',
        'data: [DONE]\n\n',
      ],
    },
  ].map((reply) => () => reply),
  check(t, got) {
    t.equal(got.text, 'Yes.')
    t.same(got.faults, [])
  },
} satisfies AnswerQuirk

import type { AnswerQuirk } from '../support/quirk.ts'

const chunk = (delta: object, more: object = {}, finish_reason: string | null = null) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }], ...more })}\n\n`
const call = { id: 'c1', type: 'function', function: { name: 'book', arguments: '{"guests":2}' } }

export default {
  kind: 'answer',
  title: 'empty deltas with a field of the server’s own come while it writes a call',
  report: 'jjang-ai/vmlx#219, vllm-project/vllm-ascend#14501',
  providers: ['openai'],
  answers: [
    () => ({
      pieces: [
        ...Array.from({ length: 30 }, () => chunk({}, { tool_call_generating: true })),
        chunk({ content: null, tool_calls: [call] }),
        chunk({ content: null }, {}, 'tool_calls'),
        'data: [DONE]\n\n',
      ],
    }),
  ],
  hasTools: true,
  check(t, got) {
    t.match(got.calls, [{ name: 'book', args: '{"guests":2}' }])
    t.equal(got.text, '')
    t.same(got.faults, [])
  },
} satisfies AnswerQuirk

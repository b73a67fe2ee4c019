import type { AnswerQuirk } from '../support/quirk.ts'

const event = (value: object) => `data: ${JSON.stringify(value)}\n\n`

export default {
  kind: 'answer',
  title: 'arguments whose beginning a server swallowed are not sent, and the model is asked again',
  report: 'vllm-project/vllm#34887',
  providers: ['anthropic'],
  answers: [
    () => ({
      pieces: [
        { type: 'message_start', message: { usage: { input_tokens: 9, output_tokens: 0 } } },
        {
          type: 'content_block_start',
          index: 0,
          content_block: { type: 'tool_use', id: 'c1', name: 'book', input: {} },
        },
        ...['guests', '":', ' 2', '}'].map((partial_json) => ({
          type: 'content_block_delta',
          index: 0,
          delta: { type: 'input_json_delta', partial_json },
        })),
        { type: 'content_block_stop', index: 0 },
        { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 9 } },
        { type: 'message_stop' },
      ].map(event),
    }),
    { parts: [{ call: { id: 'c2', name: 'book', args: '{"guests":2}' } }] },
  ],
  hasTools: true,
  check(t, got) {
    t.match(got.calls, [{ id: 'c2', args: '{"guests":2}' }])
    t.equal(got.calls.length, 1)
    t.equal(got.faults.length, 1)
  },
} satisfies AnswerQuirk

import type { AnswerQuirk } from '../support/quirk.ts'

const chunk = (delta: object, finish_reason: string | null) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`
const call = { index: 0, id: 'c1', type: 'function', function: { name: 'book', arguments: '{"guests":2}' } }

export default {
  kind: 'answer',
  title: 'the last words and the last call stand in the chunk that says the answer ends',
  report: 'vllm-project/vllm#35705, vllm-project/vllm-ascend#8327',
  providers: ['openai'],
  answers: [
    () => ({
      pieces: [
        chunk({ role: 'assistant', content: '' }, null),
        chunk({ content: 'One ' }, null),
        chunk({ content: 'moment.', tool_calls: [call] }, 'tool_calls'),
        'data: [DONE]\n\n',
      ],
    }),
  ],
  hasTools: true,
  check(t, got) {
    t.equal(got.text, 'One moment.')
    t.match(got.calls, [{ name: 'book', args: '{"guests":2}' }])
    t.same(got.faults, [])
  },
} satisfies AnswerQuirk

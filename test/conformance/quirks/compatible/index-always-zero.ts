import { completion } from '../support/completion.ts'
import type { AnswerQuirk } from '../support/quirk.ts'
import { threeBookings } from '../support/three-bookings.ts'

export default {
  kind: 'answer',
  title: 'every call has the index 0',
  report: 'ollama/ollama#15457',
  providers: ['openai'],
  answers: [
    completion(
      [
        {
          tool_calls: [{ index: 0, id: 'c1', type: 'function', function: { name: 'book', arguments: '{"guests":1}' } }],
        },
        {
          tool_calls: [{ index: 0, id: 'c2', type: 'function', function: { name: 'book', arguments: '{"guests":2}' } }],
        },
        {
          tool_calls: [{ index: 0, id: 'c3', type: 'function', function: { name: 'book', arguments: '{"guests":3}' } }],
        },
      ],
      'tool_calls',
    ),
  ],
  hasTools: true,
  check: threeBookings,
} satisfies AnswerQuirk

import { completion } from '../support/completion.ts'
import type { AnswerQuirk } from '../support/quirk.ts'
import { threeBookings } from '../support/three-bookings.ts'

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
  check: threeBookings,
} satisfies AnswerQuirk

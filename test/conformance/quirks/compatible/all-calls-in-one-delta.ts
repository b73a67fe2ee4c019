import { completion } from '../support/completion.ts'
import type { AnswerQuirk } from '../support/quirk.ts'
import { threeBookings } from '../support/three-bookings.ts'

export default {
  kind: 'answer',
  title: 'all calls come in one delta',
  report: 'tried',
  providers: ['openai'],
  answers: [
    completion(
      [
        {
          tool_calls: [
            { index: 0, id: 'c1', type: 'function', function: { name: 'book', arguments: '{"guests":1}' } },
            { index: 1, id: 'c2', type: 'function', function: { name: 'book', arguments: '{"guests":2}' } },
            { index: 2, id: 'c3', type: 'function', function: { name: 'book', arguments: '{"guests":3}' } },
          ],
        },
      ],
      'tool_calls',
    ),
  ],
  hasTools: true,
  check: threeBookings,
} satisfies AnswerQuirk

import { completion } from '../support/completion.ts'
import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'the call comes in the field of the first function calls',
  report: 'old LocalAI and FastChat servers',
  providers: ['openai'],
  answers: [completion([{ function_call: { name: 'book', arguments: '{"guests":2}' } }], 'function_call')],
  hasTools: true,
  check(t, got) {
    t.same(
      got.calls.map(({ name, args }) => [name, args]),
      [['book', '{"guests":2}']],
    )
  },
} satisfies AnswerQuirk

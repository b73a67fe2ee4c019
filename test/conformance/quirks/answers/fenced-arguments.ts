import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'a fence around arguments is taken off',
  report: 'tried',
  answers: [{ parts: [{ call: { id: 'c1', name: 'book', args: '```json\n{"guests": 2}\n```' } }] }],
  hasTools: true,
  providers: ['openai', 'anthropic', 'deno'],
  check(t, got) {
    t.same(
      got.calls.map(({ args }) => JSON.parse(args)),
      [{ guests: 2 }],
    )
  },
} satisfies AnswerQuirk

import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'several calls of one answer are all given out, each with its id',
  report: 'remix-run: parallel calls; tried',
  answers: [
    {
      parts: [
        { call: { id: 'c1', name: 'book', args: '{"guests":1}' } },
        { call: { id: 'c2', name: 'book', args: '{"guests":2}' } },
      ],
    },
  ],
  hasTools: true,
  check(t, got) {
    t.same(
      got.calls.map(({ id, args }) => [id, JSON.parse(args)]),
      [
        ['c1', { guests: 1 }],
        ['c2', { guests: 2 }],
      ],
    )
  },
} satisfies AnswerQuirk

import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'a proxy keeps the stream alive with comments that it sends as data, for as long as the model thinks',
  report: 'anomalyco/opencode#50871',
  answers: [
    (dialect) => {
      const { pieces } = dialect.answer({ parts: [{ text: 'With pleasure.' }] })
      return { pieces: [...Array.from({ length: 40 }, () => 'data: : keepalive\n\n'), ...pieces] }
    },
  ],
  providers: ['openai', 'anthropic', 'google'],
  check(t, got) {
    t.equal(got.text, 'With pleasure.')
    t.same(got.faults, [])
  },
} satisfies AnswerQuirk

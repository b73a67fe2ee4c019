import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'a gateway puts notes of its own between the events',
  report: 'langwatch/tasks#700',
  answers: [
    (dialect) => {
      const { pieces } = dialect.answer({ parts: [{ text: 'With pleasure.' }] })
      return {
        pieces: ['data: {"warning":"provider_did_not_report_usage_on_stream"}\n\n', 'data: null\n\n', ...pieces],
      }
    },
  ],
  providers: ['openai', 'anthropic', 'google'],
  check(t, got) {
    t.equal(got.text, 'With pleasure.')
    t.same(got.faults, [])
  },
} satisfies AnswerQuirk

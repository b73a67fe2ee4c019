import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'comments and carriage returns between events mean nothing',
  report: 'OpenRouter: ": OPENROUTER PROCESSING" lines',
  answers: [
    (dialect) => {
      const { pieces } = dialect.answer({ parts: [{ text: 'With pleasure.' }] })
      return { pieces: [': PROCESSING\r\n\r\n', ...pieces.map((piece) => String(piece).replaceAll('\n', '\r\n'))] }
    },
  ],
  providers: ['openai', 'anthropic', 'google'],
  check(t, got) {
    t.equal(got.text, 'With pleasure.')
    t.same(got.faults, [])
  },
} satisfies AnswerQuirk

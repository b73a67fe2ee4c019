import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'a letter whose bytes come in two pieces is whole',
  report: 'any proxy that cuts streams',
  answers: [
    (dialect) => {
      const bytes = Buffer.concat(
        dialect.answer({ parts: [{ text: 'Zürich — 東京 🙂' }] }).pieces.map((piece) => Buffer.from(piece)),
      )
      return { pieces: Array.from(bytes, (_, at) => bytes.subarray(at, at + 1)) }
    },
  ],
  providers: ['openai', 'anthropic', 'google'],
  check(t, got) {
    t.equal(got.text, 'Zürich — 東京 🙂')
  },
} satisfies AnswerQuirk

import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'a server refuses a temperature',
  report: 'litellm: Unsupported value temperature',
  providers: ['openai'],
  answers: [
    (dialect) =>
      dialect.refusal(
        400,
        "Unsupported value: 'temperature' does not support 0.7 with this model. Only the default (1) value is supported.",
      ),
    { parts: [{ text: 'With pleasure.' }] },
  ],
  temperature: 0.7,
  check(t, got) {
    t.equal(got.text, 'With pleasure.')
    t.notOk('temperature' in (got.bodies.at(-1) ?? {}))
  },
} satisfies AnswerQuirk

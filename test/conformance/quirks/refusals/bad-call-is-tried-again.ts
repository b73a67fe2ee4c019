import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'a call that the server could not read is asked for once more',
  report: 'groq: tool_use_failed',
  providers: ['openai'],
  answers: [
    (dialect) =>
      dialect.refusal(
        400,
        "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.",
      ),
    { parts: [{ text: 'With pleasure.' }] },
  ],
  hasTools: true,
  check(t, got) {
    t.equal(got.text, 'With pleasure.')
    t.equal(got.bodies.length, 2)
  },
} satisfies AnswerQuirk

import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'a sentence that the filter refuses does not stop the rest of the call',
  report: 'Azure OpenAI: content_filter on one user turn',
  answers: [
    (dialect) =>
      dialect.refusal(400, 'The response was filtered due to the prompt triggering the content management policy.'),
    { parts: [{ text: 'With pleasure.' }] },
  ],
  asksAgain: true,
  providers: ['openai', 'anthropic', 'google'],
  check(t, got) {
    t.equal(got.errors.length, 1, 'it is told, and apologised for')
    t.equal(got.text, 'With pleasure.', 'the next turn is answered')
    t.notMatch(JSON.stringify(got.bodies[1]), /book a room/, 'without what was refused')
  },
} satisfies AnswerQuirk

import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'a temperature of zero is sent',
  report: 'livekit/agents-js: falsy temperature',
  answers: [{ parts: [{ text: 'With pleasure.' }] }],
  providers: ['openai'],
  temperature: 0,
  check(t, got) {
    const [body = {}] = got.bodies
    t.equal(body.temperature, 0)
  },
} satisfies AnswerQuirk

import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'a blocked prompt is a refusal, not an answer that broke off',
  report: 'vendor SDK: promptFeedback.blockReason',
  answers: [() => ({ pieces: ['data: {"promptFeedback":{"blockReason":"SAFETY"}}\n\n'] })],
  providers: ['google'],
  check(t, got) {
    t.equal(got.bodies.length, 1, 'it is not asked again')
    t.match(got.errors, [/content filter/])
  },
} satisfies AnswerQuirk

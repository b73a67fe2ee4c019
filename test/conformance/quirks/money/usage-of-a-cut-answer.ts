import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'an answer we cut off is counted, as the provider bills it',
  report: 'livekit/agents: no metrics of interrupted answers',
  answers: [{ parts: Array.from({ length: 400 }, () => ({ text: 'word ' })), usage: { input: 50, output: 400 } }],
  closesAfter: 3,
  providers: ['openai', 'anthropic', 'google'],
  check(t, got) {
    const [spent] = got.spent
    t.equal(got.spent.length, 1)
    t.equal(spent?.isEstimated, true)
    t.ok((spent?.inputTokens ?? 0) > 5, 'what was asked')
  },
} satisfies AnswerQuirk

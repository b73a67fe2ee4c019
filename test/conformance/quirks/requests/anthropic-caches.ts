import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'the conversation so far is cached at Anthropic',
  report: 'vendor SDK: top-level cache_control',
  answers: [{ parts: [{ text: 'With pleasure.' }] }],
  providers: ['anthropic'],
  check(t, got) {
    const [body = {}] = got.bodies
    t.match(body, { cache_control: { type: 'ephemeral' } })
  },
} satisfies AnswerQuirk

import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'Gemini 3.5 thinks minimally, by level and not by budget',
  report: 'vendor SDK; livekit/agents',
  answers: [{ parts: [{ text: 'With pleasure.' }] }],
  providers: ['google'],
  model: 'gemini-3.5-flash-lite',
  check(t, got) {
    const [body = {}] = got.bodies
    t.match(body, { generationConfig: { thinkingConfig: { thinkingLevel: 'MINIMAL' } } })
    t.notMatch(JSON.stringify(body), /thinkingBudget/)
  },
} satisfies AnswerQuirk

import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'Gemini 3.8 refuses minimal: low is the least, and no temperature',
  report: 'pipecat-ai/pipecat',
  answers: [{ parts: [{ text: 'With pleasure.' }] }],
  providers: ['google'],
  model: 'gemini-3.8-flash',
  temperature: 0.7,
  check(t, got) {
    const [body = {}] = got.bodies
    t.match(body, { generationConfig: { thinkingConfig: { thinkingLevel: 'LOW' } } })
    t.notMatch(JSON.stringify(body), /temperature/)
  },
} satisfies AnswerQuirk

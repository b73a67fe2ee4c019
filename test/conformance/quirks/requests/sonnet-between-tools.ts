import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'Sonnet 5.5 thinks between tools alone, lest it swallow what it says before one',
  report: 'vendor SDK; pipecat-ai/pipecat',
  answers: [{ parts: [{ text: 'With pleasure.' }] }],
  providers: ['anthropic'],
  model: 'claude-sonnet-5-5',
  check(t, got) {
    const [body = {}] = got.bodies
    t.match(body, { thinking: { type: 'between_tools' }, output_config: { effort: 'low' } })
  },
} satisfies AnswerQuirk

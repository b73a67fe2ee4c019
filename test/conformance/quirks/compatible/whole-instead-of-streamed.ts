import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'the answer comes whole though a stream was asked for',
  report: 'gateways that buffer',
  providers: ['openai'],
  answers: [
    () => ({
      type: 'application/json',
      pieces: [
        JSON.stringify({
          choices: [{ message: { role: 'assistant', content: 'Yes.' }, finish_reason: 'stop' }],
          usage: { prompt_tokens: 9, completion_tokens: 2 },
        }),
      ],
    }),
  ],
  check(t, got) {
    t.equal(got.text, 'Yes.')
    t.match(got.spent, [{ inputTokens: 9 }])
  },
} satisfies AnswerQuirk

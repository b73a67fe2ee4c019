import { completion } from '../support/completion.ts'
import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'usage comes with every chunk, summed up',
  report: 'vllm: continuous_usage_stats',
  providers: ['openai'],
  answers: [
    completion([{ content: 'Yes.' }, { content: ' Sir.' }], 'stop', [
      { prompt_tokens: 20, completion_tokens: 1 },
      { prompt_tokens: 20, completion_tokens: 2 },
    ]),
  ],
  check(t, got) {
    t.match(got.spent, [{ inputTokens: 20, outputTokens: 2, isEstimated: false }])
  },
} satisfies AnswerQuirk

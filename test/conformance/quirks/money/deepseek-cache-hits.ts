import { completion } from '../support/completion.ts'
import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'cached tokens have DeepSeek’s name',
  report: 'deepseek: prompt_cache_hit_tokens',
  providers: ['openai'],
  answers: [
    completion([{ content: 'Yes.' }], 'stop', [
      { prompt_tokens: 20, completion_tokens: 2, prompt_cache_hit_tokens: 16 },
    ]),
  ],
  check(t, got) {
    t.match(got.spent, [{ inputTokens: 20, cachedReadTokens: 16 }])
  },
} satisfies AnswerQuirk

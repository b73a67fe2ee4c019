import { completion } from '../support/completion.ts'
import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'the template opened the thoughts: their end alone is in the answer',
  report: 'deepseek-ai/DeepSeek-R1, Qwen3-Thinking chat templates',
  providers: ['openai'],
  answers: [completion([{ content: 'They want a room. ' }, { content: 'I agree.</think>\n\nWith pleasure.' }], 'stop')],
  model: 'deepseek-r1-distill-qwen-7b',
  check(t, got) {
    t.equal(got.text, 'With pleasure.')
  },
} satisfies AnswerQuirk

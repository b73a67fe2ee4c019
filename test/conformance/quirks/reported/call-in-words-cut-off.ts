import { completion } from '../support/completion.ts'
import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'a call among the words that is cut off is neither made nor read out',
  report: 'waybarrios/vllm-mlx#43',
  providers: ['openai'],
  answers: [
    completion([{ content: 'One moment. <tool_call>{"name": "book", "arguments": {"guests": 1' }], 'length'),
    completion([{ content: '<tool_call>book it</tool_call> I can do that.' }], 'stop'),
  ],
  hasTools: true,
  check(t, got) {
    t.same(got.calls, [])
    t.notMatch(got.text, /tool_call|guests|book it/)
    t.match(got.faults.join(), /tool parser/)
  },
} satisfies AnswerQuirk

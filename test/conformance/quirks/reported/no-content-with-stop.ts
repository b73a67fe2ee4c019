import { completion } from '../support/completion.ts'
import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'a server whose parser lost the answer says that it ended: it is asked for again',
  report: 'vllm-project/vllm#45736',
  providers: ['openai'],
  answers: [
    completion([{ role: 'assistant', content: null }, { reasoning_content: 'They want JSON.' }], 'stop'),
    { parts: [{ text: 'With pleasure.' }] },
  ],
  check(t, got) {
    t.equal(got.text, 'With pleasure.')
    t.match(got.faults, [/no words/])
  },
} satisfies AnswerQuirk

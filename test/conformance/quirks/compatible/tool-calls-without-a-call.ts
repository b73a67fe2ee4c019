import { completion } from '../support/completion.ts'
import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'finish_reason tool_calls comes without any call',
  report: 'vllm-project/vllm#53255',
  providers: ['openai'],
  answers: [completion([{ content: '' }], 'tool_calls'), completion([{ content: 'With pleasure.' }], 'stop')],
  hasTools: true,
  check(t, got) {
    t.equal(got.text, 'With pleasure.')
    t.match(got.faults, [/gave no words/])
  },
} satisfies AnswerQuirk

import { completion } from '../support/completion.ts'
import type { AnswerQuirk } from '../support/quirk.ts'

const WORDS = 'One moment.\n<tool_call>\n{"name": "book", "arguments": {"guests": 2}}\n</tool_call>'

export default {
  kind: 'answer',
  title: 'a server without a tool parser writes the call among the words: it is made, and not read out',
  report: 'vllm-project/vllm#27572, waybarrios/vllm-mlx#43',
  providers: ['openai'],
  answers: [
    completion(
      [...WORDS].map((content) => ({ content })),
      'stop',
    ),
  ],
  hasTools: true,
  check(t, got) {
    t.equal(got.text.trim(), 'One moment.')
    t.match(got.calls, [{ name: 'book', args: '{"guests":2}' }])
    t.match(got.faults.join(), /tool parser/, 'the log names the server’s switch')
  },
} satisfies AnswerQuirk

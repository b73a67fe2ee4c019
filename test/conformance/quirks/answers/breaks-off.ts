import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'a stream that ends without saying so is a fault, and the model goes on from there',
  report: 'vllm-project/vllm#27572',
  answers: [{ parts: [{ text: 'We have three ' }], stop: 'none' }, { parts: [{ text: 'rooms.' }] }],
  providers: ['openai', 'anthropic', 'google'],
  check(t, got) {
    t.equal(got.text, 'We have three rooms.')
    t.match(got.faults, [/broke off/])
  },
} satisfies AnswerQuirk

import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'a model that used up its tokens before the first word is asked once more',
  report: 'openai/openai-node: reasoning uses all of max_completion_tokens',
  answers: [{ stop: 'length' }, { stop: 'length' }],
  check(t, got) {
    t.equal(got.text, '')
    t.match(got.errors, [/limit of tokens/], 'and then it is told as a failure')
  },
} satisfies AnswerQuirk

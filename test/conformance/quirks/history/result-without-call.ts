import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'a result whose call is gone is left out of the request',
  report: 'openai: role tool must be a response to a preceding message',
  answers: [{ parts: [{ text: 'With pleasure.' }] }],
  hasTools: true,
  messages: [
    { role: 'user', content: 'Book.' },
    { role: 'tool_result', id: 'gone', name: 'book', content: 'lost result' },
    { role: 'user', content: 'Still there?' },
  ],
  providers: ['openai', 'anthropic', 'google'],
  check(t, got) {
    t.equal(got.text, 'With pleasure.')
    t.notMatch(JSON.stringify(got.bodies[0]), /lost result/)
  },
} satisfies AnswerQuirk

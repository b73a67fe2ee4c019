import type { Message } from '../../../../runtime/plugin-sdk/chat/chat-request.ts'
import type { AnswerQuirk } from '../support/quirk.ts'

const CALL: Message = { role: 'tool_call', id: 'c1', name: 'book', arguments: '{"guests":2}' }

export default {
  kind: 'answer',
  title: 'a call that has no result is left out of the request',
  report: 'openai: tool_call_ids did not have response messages',
  answers: [{ parts: [{ text: 'With pleasure.' }] }],
  hasTools: true,
  messages: [{ role: 'user', content: 'Book.' }, CALL, { role: 'user', content: 'Still there?' }],
  providers: ['openai', 'anthropic', 'google'],
  check(t, got) {
    t.equal(got.text, 'With pleasure.')
    t.notMatch(JSON.stringify(got.bodies[0]), /guests\\*":2/)
  },
} satisfies AnswerQuirk

import { completion } from '../support/completion.ts'
import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'past calls are sent with their words in one message',
  report: 'openai: content null beside tool_calls',
  providers: ['openai'],
  answers: [completion([{ content: 'Done.' }], 'stop')],
  hasTools: true,
  messages: [
    { role: 'user', content: 'Book.' },
    { role: 'assistant', content: 'One moment.' },
    { role: 'tool_call', id: 'c1', name: 'book', arguments: '{}' },
    { role: 'tool_result', id: 'c1', name: 'book', content: 'done' },
  ],
  check(t, got) {
    const { messages } = got.bodies[0] as { messages: { role: string; content: unknown; tool_calls?: unknown[] }[] }
    t.same(
      messages.map(({ role }) => role),
      ['user', 'assistant', 'tool'],
    )
    t.equal(messages[1]?.content, 'One moment.')
    t.equal(messages[1]?.tool_calls?.length, 1)
  },
} satisfies AnswerQuirk

import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'ids of calls must have nine letters and digits',
  report: 'mistralai: Tool call id has to be defined',
  providers: ['openai'],
  answers: [
    (dialect) => dialect.refusal(400, 'Tool call id was c-one but must be a-z, A-Z, 0-9, with a length of 9.'),
    { parts: [{ text: 'With pleasure.' }] },
  ],
  hasTools: true,
  messages: [
    { role: 'user', content: 'Book.' },
    { role: 'tool_call', id: 'c-one', name: 'book', arguments: '{}' },
    { role: 'tool_result', id: 'c-one', name: 'book', content: 'done' },
  ],
  check(t, got) {
    t.equal(got.text, 'With pleasure.')
    const { messages } = got.bodies.at(-1) as { messages: { tool_call_id?: string; tool_calls?: { id: string }[] }[] }
    const asked = messages.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id }) => id))
    t.match(asked, [/^[a-zA-Z0-9]{9}$/])
    t.same(
      messages.flatMap(({ tool_call_id }) => tool_call_id ?? []),
      asked,
    )
  },
} satisfies AnswerQuirk

import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'a template wants turns that alternate, and answers 500',
  report: 'mistralai/mistral-vibe#1006',
  providers: ['openai'],
  answers: [
    (dialect) =>
      dialect.refusal(
        500,
        'Jinja Exception: After the optional system message, conversation roles must alternate user and assistant roles except for tool calls and results.',
      ),
    { parts: [{ text: 'With pleasure.' }] },
  ],
  messages: [
    { role: 'system', content: 'You are brief.' },
    { role: 'user', content: 'One.' },
    { role: 'user', content: 'Two.' },
    { role: 'assistant', content: 'Three.' },
    { role: 'system', content: 'A note.' },
    { role: 'user', content: 'Four.' },
  ],
  check(t, got) {
    t.equal(got.text, 'With pleasure.')
    const { messages } = got.bodies.at(-1) as { messages: { role: string }[] }
    t.same(
      messages.map(({ role }) => role),
      ['system', 'user', 'assistant', 'user'],
    )
  },
} satisfies AnswerQuirk

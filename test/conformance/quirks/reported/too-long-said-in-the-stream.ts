import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'a conversation that is too long is refused in the stream, and asked again without its oldest turns',
  report: 'vercel/ai#13506',
  providers: ['openai'],
  answers: [
    () => ({ pieces: ['data: {"error":{"message":"Context length exceeded","code":"CONTEXT_LENGTH_EXCEEDED"}}\n\n'] }),
    { parts: [{ text: 'With pleasure.' }] },
  ],
  messages: [
    { role: 'system', content: 'You are brief.' },
    ...Array.from({ length: 40 }, (_, i) => ({
      role: i % 2 === 0 ? ('user' as const) : ('assistant' as const),
      content: `Turn ${i} of a long call.`,
    })),
    { role: 'user', content: 'Can I have the corner room?' },
  ],
  check(t, got) {
    t.equal(got.text, 'With pleasure.')
    const [first = '', second = ''] = got.bodies.map((body) => JSON.stringify(body))
    t.ok(second.length < first.length, `${first.length} > ${second.length}`)
    t.match(second, /corner room/)
  },
} satisfies AnswerQuirk

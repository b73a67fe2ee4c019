import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'a template knows no instructions',
  report: 'anomalyco/opencode#5034, EricLBuehler/mistral.rs#506',
  providers: ['openai'],
  answers: [
    (dialect) => dialect.refusal(400, 'Only user, assistant and tool roles are supported, got system'),
    { parts: [{ text: 'With pleasure.' }] },
  ],
  check(t, got) {
    t.equal(got.text, 'With pleasure.')
    const { messages } = got.bodies.at(-1) as { messages: { role: string; content: string }[] }
    t.same(
      messages.map(({ role }) => role),
      ['user'],
    )
    t.match(messages[0]?.content, /You are brief\.[\s\S]*book a room/)
  },
} satisfies AnswerQuirk

import type { Message } from '../../../../runtime/plugin-sdk/chat/chat-request.ts'
import type { AnswerQuirk } from '../support/quirk.ts'

const PAST: Message[] = Array.from({ length: 40 }, (_, i) => ({
  role: i % 2 === 0 ? 'user' : 'assistant',
  content: `Turn ${i} of a long call.`,
}))

export default {
  kind: 'answer',
  title: 'a conversation that is too long is asked again without its oldest turns',
  report: 'ggml-org/llama.cpp: exceed_context_size_error',
  answers: [
    (dialect) =>
      dialect.refusal(400, 'This model’s maximum context length is 4096 tokens. However, you requested 5000 tokens.'),
    (dialect) => dialect.refusal(400, 'prompt is too long: 4200 tokens > 4096 maximum'),
    { parts: [{ text: 'With pleasure.' }] },
  ],
  messages: [
    { role: 'system', content: 'You are brief.' },
    ...PAST,
    { role: 'user', content: 'Can I have the corner room?' },
  ],
  providers: ['openai', 'anthropic', 'google'],
  check(t, got) {
    t.equal(got.text, 'With pleasure.')
    t.equal(got.bodies.length, 3)
    const sizes = got.bodies.map((body) => JSON.stringify(body).length)
    t.ok(sizes[0]! > sizes[1]! && sizes[1]! > sizes[2]!, sizes.join(' > '))
    t.match(JSON.stringify(got.bodies[2]), /You are brief/)
    t.match(JSON.stringify(got.bodies[2]), /Can I have the corner room/)
  },
} satisfies AnswerQuirk

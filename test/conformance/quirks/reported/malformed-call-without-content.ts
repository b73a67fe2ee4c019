import type { AnswerQuirk } from '../support/quirk.ts'

const MALFORMED = { candidates: [{ content: {}, finishReason: 'MALFORMED_FUNCTION_CALL' }] }

export default {
  kind: 'answer',
  title: 'a call that Gemini could not write is asked for again, and is no answer without words',
  report: 'vercel/ai#5039, bolna-ai/bolna#920',
  answers: [
    () => ({ pieces: [`data: ${JSON.stringify(MALFORMED)}\n\n`] }),
    { parts: [{ call: { id: 'c1', name: 'book', args: '{"guests":2}' } }] },
  ],
  providers: ['google'],
  hasTools: true,
  check(t, got) {
    t.equal(got.calls.length, 1)
    t.match(got.faults.join(), /MALFORMED_FUNCTION_CALL/)
  },
} satisfies AnswerQuirk

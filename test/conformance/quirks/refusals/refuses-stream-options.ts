import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'a server refuses stream_options',
  report: 'openai-compatible servers: Extra inputs are not permitted',
  providers: ['openai'],
  answers: [
    (dialect) =>
      dialect.refusal(
        422,
        "[{'type': 'extra_forbidden', 'loc': ('body', 'stream_options'), 'msg': 'Extra inputs are not permitted'}]",
      ),
    { parts: [{ text: 'With pleasure.' }] },
  ],
  check(t, got) {
    t.equal(got.text, 'With pleasure.')
    t.notOk('stream_options' in (got.bodies.at(-1) ?? {}))
  },
} satisfies AnswerQuirk

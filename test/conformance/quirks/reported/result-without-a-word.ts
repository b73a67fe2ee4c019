import type { AnswerQuirk } from '../support/quirk.ts'

export default {
  kind: 'answer',
  title: 'a tool that gave nothing: no request holds an empty text, which is refused',
  report: 'livekit/agents#1789, NousResearch/hermes-agent#55092',
  providers: ['anthropic', 'google'],
  answers: [{ parts: [{ text: 'It is done.' }] }],
  messages: [
    { role: 'user', content: 'Book.' },
    { role: 'assistant', content: '' },
    { role: 'tool_call', id: 'c1', name: 'book', arguments: '{}' },
    { role: 'tool_result', id: 'c1', name: 'book', content: '' },
  ],
  hasTools: true,
  check(t, got) {
    t.equal(got.text, 'It is done.')
    t.notMatch(JSON.stringify(got.bodies[0]), /"(text|content|output)":"\s*"/)
  },
} satisfies AnswerQuirk

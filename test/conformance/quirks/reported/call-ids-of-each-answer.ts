import type { Message } from '../../../../runtime/plugin-sdk/chat/chat-request.ts'
import type { AnswerQuirk } from '../support/quirk.ts'

const call = (id: string, guests: number) => ({ call: { id, name: 'book', args: `{"guests":${guests}}` } })
const PAST: Message[] = [
  { role: 'user', content: 'A room for two.' },
  { role: 'tool_call', id: 'functions.book:0', name: 'book', arguments: '{"guests":2}' },
  { role: 'tool_call', id: 'c1', name: 'book', arguments: '{"guests":3}' },
  { role: 'tool_result', id: 'functions.book:0', name: 'book', content: 'room 12' },
  { role: 'tool_result', id: 'c1', name: 'book', content: 'room 13' },
  { role: 'user', content: 'And two for four.' },
]

export default {
  kind: 'answer',
  title: 'a server that numbers the calls of each answer anew: each call gets an id that no earlier one has',
  report: 'vllm-project/vllm#50295, open-webui/open-webui#28570',
  answers: [{ parts: [call('functions.book:0', 4), call('functions.book:1', 4), call('c1', 5)] }],
  messages: PAST,
  hasTools: true,
  check(t, got) {
    t.same(
      got.calls.map(({ id }) => id),
      ['functions.book:1', 'functions.book:2', 'c1_1'],
    )
    t.same(
      got.calls.map(({ args }) => JSON.parse(args).guests),
      [4, 4, 5],
    )
  },
} satisfies AnswerQuirk

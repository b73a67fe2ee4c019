import t from 'tap'
import { encodeMessage } from '../../../../../runtime/call/link/fit.ts'
import { MAX_MESSAGE_BYTES } from '../../../../../runtime/call/link/protocol.ts'

t.test('a message that the other end of the link would refuse is not encoded', async (t) => {
  const output = (characters: string) =>
    encodeMessage({ type: 'answer', session: 1, id: 1, result: { output: characters } })
  t.type(output('x'.repeat(MAX_MESSAGE_BYTES - 1_000)), 'string')
  t.equal(output('x'.repeat(MAX_MESSAGE_BYTES)), undefined)
  t.equal(output('€'.repeat(MAX_MESSAGE_BYTES / 2)), undefined, 'bytes count, not characters')
  let deep: unknown = 'x'
  for (let i = 0; i < 20_000; i++) deep = [deep]
  t.equal(encodeMessage({ type: 'answer', session: 1, id: 1, result: deep }), undefined)
})

import t from 'tap'
import { frameOf, headerOfBytes, messagesFrom } from '../../../../../runtime/process/offload/work-channel.ts'

t.test('messages and bytes come as they were sent, however they are cut', async (t) => {
  const bytes = Buffer.from('some bytes')
  const sent = [
    { type: 'begin', params: { at: new Date(0), list: new Map([['a', 1]]) } },
    bytes,
    'x'.repeat(1_000),
    Buffer.alloc(0),
  ]
  const whole = Buffer.concat(
    sent.flatMap((one) => (Buffer.isBuffer(one) ? [headerOfBytes(one.length), one] : [frameOf(one)])),
  )
  for (const length of [1, 3, 7, 64, whole.length]) {
    const stream = (async function* () {
      for (let at = 0; at < whole.length; at += length) yield whole.subarray(at, at + length)
    })()
    const heard: unknown[] = []
    for await (const message of messagesFrom(stream))
      heard.push(message instanceof Uint8Array ? Buffer.from(message) : message)
    t.same(heard, sent, `in pieces of ${length}`)
  }
})

import { test } from 'tap'
import { everywhere } from '../../../../../unit/runtime/conversation/realtime/isolated.ts'
import { DELIVERY_ANSWER, realtimeCall, WHERE_ANSWER } from '../../../../../unit/runtime/conversation/realtime/setup.ts'
import { DELIVERY, WHERE } from '../../../../../unit/runtime/conversation/realtime/support.ts'
import { RATE_HZ } from '../../../../../unit/runtime/conversation/support/harness.ts'
import { speech, speechAfterPause } from '../../../../../unit/runtime/conversation/support/speech.ts'

test('the words of the caller come before the answer to them, in the log and in the session', (t) =>
  everywhere(t, {}, async (t, world) => {
    const { port, say } = await realtimeCall(t, world)
    await say(speech(WHERE, RATE_HZ))
    await port.until('the answer', () => port.said.length >= 2)
    await say(speechAfterPause(DELIVERY, RATE_HZ))
    await port.until('the second answer', () => port.said.length >= 4)
    const expected = [`user: ${WHERE}`, WHERE_ANSWER, `user: ${DELIVERY}`, DELIVERY_ANSWER]
    t.strictSame(port.said, expected)
    await port.until('the session has its answer', () => world.held().length >= 4)
    t.strictSame(
      world.held().map(({ role, text }) => `${role}: ${text}`),
      expected,
    )
    t.strictSame(world.refused, [])
  }))

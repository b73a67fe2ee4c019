import { test } from 'tap'
import { everywhere } from '../../../../../unit/runtime/conversation/realtime/isolated.ts'
import { DELIVERY_ANSWER, realtimeCall, WHERE_ANSWER } from '../../../../../unit/runtime/conversation/realtime/setup.ts'
import { DELIVERY, WHERE } from '../../../../../unit/runtime/conversation/realtime/support.ts'

test('a session is renewed before its time is over; the next one knows what was said, also while it opened', (t) =>
  everywhere(t, { sessionMs: 30_000 }, async (t, world) => {
    const { port, type } = await realtimeCall(t, world, { own: { realtimeSessionS: 10 } })
    type(WHERE)
    await port.until('the first answer', () => port.said.length >= 2)
    const before = world.sessions()
    world.double.faults.set({ kind: 'slow', firstMs: 1_000 }, 1)
    await port.until('another session opens', () => world.sessions() > before)
    type(DELIVERY)
    await port.until('the second answer', () => port.said.length >= 4)
    await port.until('one session is open', () => world.double.open() === 1)
    type(WHERE)
    const renewed = () => world.heldByEach().slice(before)
    await port.until('the question in a renewed session', () => renewed().some((held) => held.length >= 5))
    t.strictSame(
      renewed()
        .find((held) => held.length >= 5)
        ?.slice(0, 5)
        .map(({ role, text }) => `${role}: ${text}`),
      [`user: ${WHERE}`, WHERE_ANSWER, `user: ${DELIVERY}`, DELIVERY_ANSWER, `user: ${WHERE}`],
    )
    await port.until('the third answer', () => port.said.length >= 6)
    t.strictSame(port.faults, [])
    t.strictSame(world.refused, [])
  }))

import { test } from 'tap'
import { everywhere } from '../isolated.ts'
import { DELIVERY, WHERE } from '../support.ts'
import { realtimeCall, WHERE_ANSWER } from './setup.ts'

test('a session is renewed before its time is over, and the next one knows what was said', (t) =>
  everywhere(t, { sessionMs: 10_000 }, async (t, world) => {
    const { port, type } = await realtimeCall(t, world, { own: { realtimeSessionS: 10 } })
    type(WHERE)
    await port.until('the first answer', () => port.said.length >= 2)
    const before = world.sessions()
    await port.until('another session', () => world.sessions() > before)
    type(DELIVERY)
    await port.until('the question in it', () => world.held().length >= 3)
    t.strictSame(
      world
        .held()
        .slice(0, 3)
        .map(({ role, text }) => `${role}: ${text}`),
      [`user: ${WHERE}`, WHERE_ANSWER, `user: ${DELIVERY}`],
    )
    await port.until('the second answer', () => port.said.length >= 4)
    t.strictSame(port.faults, [])
    t.strictSame(world.refused, [])
  }))

import { test } from 'tap'
import { everywhere } from '../../../../../unit/runtime/conversation/realtime/isolated.ts'
import { DELIVERY_ANSWER, realtimeCall } from '../../../../../unit/runtime/conversation/realtime/setup.ts'
import { DELIVERY, WHERE } from '../../../../../unit/runtime/conversation/realtime/support.ts'

test('questions that follow each other at once are answered one at a time, and none is refused', (t) =>
  everywhere(t, {}, async (t, world) => {
    const { port, type } = await realtimeCall(t, world)
    for (const text of [WHERE, DELIVERY, WHERE, DELIVERY]) type(text)
    await port.until('the last answer', () => port.said.at(-1) === DELIVERY_ANSWER)
    t.strictSame(world.refused, [])
    t.strictSame(port.faults, [])
  }))

import { test } from 'tap'
import { everywhere } from '../isolated.ts'
import { DELIVERY, WHERE } from '../support.ts'
import { DELIVERY_ANSWER, realtimeCall } from './setup.ts'

test('questions that follow each other at once are answered one at a time, and none is refused', (t) =>
  everywhere(t, {}, async (t, world) => {
    const { port, type } = await realtimeCall(t, world)
    for (const text of [WHERE, DELIVERY, WHERE, DELIVERY]) type(text)
    await port.until('the last answer', () => port.said.at(-1) === DELIVERY_ANSWER)
    t.strictSame(world.refused, [])
    t.strictSame(port.faults, [])
  }))

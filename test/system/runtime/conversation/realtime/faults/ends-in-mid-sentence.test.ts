import { test } from 'tap'
import { everywhere } from '../../../../../unit/runtime/conversation/realtime/isolated.ts'
import { DELIVERY_ANSWER, realtimeCall } from '../../../../../unit/runtime/conversation/realtime/setup.ts'
import { DELIVERY, WHERE } from '../../../../../unit/runtime/conversation/realtime/support.ts'

test('a session that ends in mid-sentence: the pipeline says the rest, and the next question goes to a new session', (t) =>
  everywhere(t, {}, async (t, world) => {
    const { port, type } = await realtimeCall(t, world, { fallback: 'It opens at nine.' })
    // Past what sets the session up, within the answer.
    world.double.faults.set({ kind: 'disconnect', after: world.vendor === 'openai' ? 22 : 4 }, 1)
    type(WHERE)
    await port.until('the rest was said', () => port.said.some((said) => said.endsWith('It opens at nine.')))
    t.match(port.faults[0], new RegExp(`${world.title} .*broke off.*went on with`))
    type(DELIVERY)
    await port.until('the next answer', () => port.said.at(-1) === DELIVERY_ANSWER)
    t.ok(world.held().some(({ role, text }) => role === 'assistant' && text.endsWith('It opens at nine.')))
    t.strictSame(world.refused, [])
  }))

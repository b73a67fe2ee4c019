import { test } from 'tap'
import { everywhere } from '../../../../../unit/runtime/conversation/realtime/isolated.ts'
import { DELIVERY_ANSWER, realtimeCall, WEATHER } from '../../../../../unit/runtime/conversation/realtime/setup.ts'
import { DELIVERY } from '../../../../../unit/runtime/conversation/realtime/support.ts'

test('a caller who goes on while a tool runs: its result is nobody’s orphan, and no later question is refused', (t) =>
  everywhere(t, {}, async (t, world) => {
    const tool = Promise.withResolvers<string>()
    const { port, type } = await realtimeCall(t, world, {
      agent: { tools: [WEATHER] },
      prepare: (port) => {
        port.runTool = () => tool.promise
      },
    })
    type('Please use the tool.')
    await port.until('the tool runs', () => port.tools.length === 1)
    type(DELIVERY)
    await port.until('the question is taken', () => port.said.includes(`user: ${DELIVERY}`))
    tool.resolve('Sunny.')
    await port.until('the answer', () => port.said.includes(DELIVERY_ANSWER))
    type(DELIVERY)
    await port.until('the next answer', () => port.said.filter((said) => said === DELIVERY_ANSWER).length >= 2)
    t.strictSame(world.refused, [])
    t.strictSame(port.faults, [])
  }))

import { test } from 'tap'
import { argumentsOf } from '../../../../../../runtime/conversation/realtime/ledger.ts'
import { everywhere } from '../../../../../unit/runtime/conversation/realtime/isolated.ts'
import { realtimeCall, WEATHER } from '../../../../../unit/runtime/conversation/realtime/setup.ts'

test('arguments of a tool are an object, also where they were encoded twice or fenced', (t) => {
  for (const text of ['{"city":"Paris"}', '"{\\"city\\":\\"Paris\\"}"', '```json\n{"city":"Paris"}\n```']) {
    t.strictSame(JSON.parse(argumentsOf(text)), { city: 'Paris' })
  }
  t.end()
})

test('a tool gets its arguments as an object', (t) =>
  everywhere(t, {}, async (t, world) => {
    const { port, type } = await realtimeCall(t, world, {
      agent: { tools: [WEATHER] },
      prepare: (port) => {
        port.runTool = () => 'Sunny.'
      },
    })
    type('Please use the tool.')
    await port.until('the answer', () => port.said.length >= 2)
    t.match(port.tools, [{ name: 'weather', arguments: { city: 'Paris' } }])
    t.match(port.said[1], /Sunny\./)
    t.strictSame(world.refused, [])
  }))

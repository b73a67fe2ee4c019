import { test } from 'tap'
import { everywhere } from '../../../../../unit/runtime/conversation/realtime/isolated.ts'
import { realtimeCall } from '../../../../../unit/runtime/conversation/realtime/setup.ts'
import { DELIVERY, WHERE } from '../../../../../unit/runtime/conversation/realtime/support.ts'

test('a key that is refused is named and not tried for ever; the pipeline answers', (t) =>
  everywhere(t, { key: 'wrong' }, async (t, world) => {
    const { port, type } = await realtimeCall(t, world, { fallback: 'At the pier.' })
    for (const [i, text] of [WHERE, DELIVERY, WHERE, DELIVERY].entries()) {
      type(text)
      await port.until('the pipeline answers', () => port.said.length >= 2 * (i + 1))
    }
    t.ok(
      port.said.filter((said) => said.startsWith('assistant')).every((said) => said === 'assistant: At the pier.'),
      port.said.join(' '),
    )
    t.match(port.faults[0], new RegExp(`${world.title} .*key`))
    t.ok(world.sessions() <= 6, `${world.sessions()} connections for four questions`)
  }))

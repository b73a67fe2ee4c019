import { test } from 'tap'
import { everywhere } from '../../../../../unit/runtime/conversation/realtime/isolated.ts'
import { realtimeCall, WHERE_ANSWER } from '../../../../../unit/runtime/conversation/realtime/setup.ts'
import { WHERE } from '../../../../../unit/runtime/conversation/realtime/support.ts'

const SAMPLES_PER_S = 16_000

test('tones of a menu or of music on hold are nobody’s turn: the session is asked nothing', (t) =>
  everywhere(t, {}, async (t, world) => {
    let at = 0
    const { port, type } = await realtimeCall(t, world, {
      utterances: [],
      line: (frame) => {
        for (let i = 0; i < frame.length; i++, at++) {
          const isOn = Math.floor(at / SAMPLES_PER_S) % 2 === 0
          if (isOn) frame[i]! += Math.round(6_000 * Math.sin((2 * Math.PI * 425 * at) / SAMPLES_PER_S))
        }
      },
    })
    await port.until('four seconds of tones', () => at > 4 * SAMPLES_PER_S)
    t.strictSame(port.said, [])
    type(WHERE)
    await port.until('the answer', () => port.said.at(-1) === WHERE_ANSWER)
    t.notOk(
      world.held().some(({ role, text }) => role === 'user' && text !== WHERE),
      'the tones are no turn',
    )
    t.strictSame(world.refused, [])
  }))

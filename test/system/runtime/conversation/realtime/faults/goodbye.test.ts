import { test } from 'tap'
import { everywhere } from '../../../../../unit/runtime/conversation/realtime/isolated.ts'
import { realtimeCall } from '../../../../../unit/runtime/conversation/realtime/setup.ts'
import { WHERE } from '../../../../../unit/runtime/conversation/realtime/support.ts'

test('an answer is heard whole before the call may end, though it was made much faster', (t) =>
  everywhere(t, {}, async (t, world) => {
    const { port, type } = await realtimeCall(t, world)
    type(WHERE)
    await port.until('the answer', () => port.said.length >= 2)
    const { turn } = port.turns[1]!
    t.equal(turn.text, 'The shop is at 12 Pier Street.')
    t.equal(turn.interrupted, false)
    const lengthMs = turn.endMs - turn.startMs
    t.ok(lengthMs > 1_400, `two seconds of speech, heard for ${lengthMs} ms`)
    t.ok(port.loudFrames * 20 >= lengthMs * 0.5, `${port.loudFrames} loud frames of ${lengthMs} ms were on the line`)
    t.equal(port.clears, 0)
  }))

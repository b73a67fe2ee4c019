import t from 'tap'
import { type CallEventBody, isCallEvent, isPassing } from '../../../../../runtime/call/log/events.ts'

t.test('an event is taken as it is defined', async (t) => {
  const turn: CallEventBody = { type: 'turn', text: 'Hello.', start_ms: 100, end_ms: 900, inputs: [3, 4] }
  t.ok(isCallEvent(turn))
  t.ok(isCallEvent({ type: 'queued' }))
  t.ok(isCallEvent({ type: 'tool_called', id: 'c:1', name: 'book', arguments: { day: 'Monday', seats: [1, 2] } }))
})

t.test('what is none is refused', async (t) => {
  for (const value of [
    undefined,
    null,
    'queued',
    {},
    { type: 'unheard_of' },
    { type: 'turn', text: 'Hello.', start_ms: null, end_ms: 900 },
    { type: 'turn', text: 'Hello.', start_ms: Number.NaN, end_ms: 900 },
    { type: 'turn', text: 'x'.repeat(100_001), start_ms: 0, end_ms: 900 },
    { type: 'key', digit: '12' },
    { type: 'ended', status: 'running', end_reason: 'idle', disposition: 'completed' },
  ]) {
    t.notOk(isCallEvent(value), JSON.stringify(value)?.slice(0, 80))
  }
})

t.test('words and speech that are not final pass by', async (t) => {
  t.ok(isPassing({ type: 'words', text: 'Hel', start_ms: 0, end_ms: 10, final: false }))
  t.notOk(isPassing({ type: 'words', text: 'Hello', start_ms: 0, end_ms: 10, final: true }))
  t.ok(isPassing({ type: 'heard', text: 'Good', start_ms: 0, end_ms: 10, interrupted: false, final: false }))
  t.notOk(isPassing({ type: 'queued' }))
})

import { test } from 'tap'
import { testFaults } from '../../../../runtime/agent-tests/parse.ts'
import { type CalledBefore, testOfCall } from '../../../../runtime/agent-tests/test-of-call.ts'
import { HANDED_OFF_OUTPUT } from '../../../../runtime/call/types/hand-off.ts'

const CALL: CalledBefore = {
  turns: [
    { seq: 0, role: 'assistant', text: 'Good morning.', interrupted: false },
    { seq: 1, role: 'user', text: 'This is Grace Hopper, call me back at 030 901 820 77.', interrupted: false },
    { seq: 2, role: 'assistant', text: 'A table costs 20 euros. Which day, Grace Hopper?', interrupted: false },
    {
      seq: 3,
      role: 'user',
      text: 'Monday. My mail is grace@navy.example, and my number is 030 90182077.',
      interrupted: false,
    },
    { seq: 4, role: 'user', text: '[The caller pressed 4 2 on the keypad]', interrupted: false },
    { seq: 5, role: 'assistant', text: 'Booked.', interrupted: false },
  ],
  tools: [
    {
      name: 'book',
      arguments: { day: 'monday', phone: '03090182077', who: 'Grace Hopper' },
      result: '{"ok":true,"mail":"grace@navy.example"}',
      tookMs: 812,
    },
  ],
  handedOff: [],
  collected: [],
  procedures: [],
  disposition: 'completed',
  endReason: 'agent_hangup',
  variables: { full_name: 'Grace Hopper' },
  numbers: ['+493090182077', null],
  startedAt: new Date('2026-03-29T09:30:00Z'),
}

const RECORDED = '0197f3a2-7c1e-7000-8000-000000000004'

test('a call becomes a test that can be run, its people replaced, the same by the same', (t) => {
  const made = testOfCall(CALL, { name: 'books', keep: false })
  t.same(testFaults(JSON.parse(JSON.stringify(made))), [])
  const text = JSON.stringify(made)
  t.notMatch(text, /Grace|Hopper|navy|9018|820/)
  t.match(made, {
    caller: {
      say: [/^This is Test full name, call me back at \+1555010\d+\.$/, /caller\d@example\.com/, { keys: '42' }],
    },
    clock: '2026-03-29T09:30:00 UTC',
    variables: { full_name: 'Test full name' },
    tools: { book: [{ when: { day: 'monday', who: 'Test full name' }, returns: { ok: true }, after_ms: 812 }] },
    expect: [
      { called: 'book', once: true, with: { day: 'monday' } },
      { heard: 'A table costs 20 euros.' },
      { disposition: 'completed' },
      { ended_by: 'agent' },
      { silence_ms: { max: 6_000 } },
    ],
  })
  const numbers = text.match(/\+1555010\d+/g) ?? []
  t.equal(numbers.length, 4, 'said twice, given to a tool and expected there')
  t.equal(new Set(numbers).size, 1, 'and the same everywhere')
  t.end()
})

test('hand-offs, values and procedures of a call are facts, and need no mocks', (t) => {
  const tool = (name: string, result: string) => ({ name, arguments: {}, result, tookMs: 1 })
  const made = testOfCall(
    {
      ...CALL,
      tools: [tool('begin_procedure', 'It has begun.'), tool('to_billing', HANDED_OFF_OUTPUT)],
      handedOff: [{ to: 'b-1', name: 'Billing', reason: 'a bill' }],
      collected: [
        { name: 'phone', status: 'gave_up', attempts: 3 },
        { name: 'day', status: 'collected', value: '2027-03-14', attempts: 1 },
        { name: 'day', status: 'collected', value: '2027-03-15', attempts: 1 },
      ],
      procedures: [{ name: 'cancel', toEnd: true }],
    },
    { name: 'n', keep: false },
  )
  t.same(testFaults(JSON.parse(JSON.stringify(made))), [])
  t.same(made?.tools, undefined)
  t.match(made?.expect, [{ handed_off: 'Billing' }, { collected: 'day' }, { procedure: 'cancel' }, { heard: String }])
  t.end()
})

test('personal data stay where that is asked for, and a silent call makes no test', (t) => {
  t.match(JSON.stringify(testOfCall(CALL, { name: 'books', keep: true })), /Grace Hopper.*030 901 820 77/)
  t.equal(testOfCall({ ...CALL, turns: CALL.turns.slice(0, 1) }, { name: 'x', keep: false }), undefined)
  t.end()
})

test('a test with the sound of its call says which turn each line is, and keys are pressed', (t) => {
  const made = testOfCall(CALL, { name: 'books', keep: true, recordedCall: RECORDED })
  t.same(testFaults(JSON.parse(JSON.stringify(made))), [])
  t.match(made?.caller, {
    ...{ channel: 'audio', recorded_call: RECORDED },
    say: [{ say: /^This is Grace/, recorded_turn: 1 }, { say: /^Monday/, recorded_turn: 3 }, { keys: '42' }],
  })
  const keysAlone = { ...CALL, turns: CALL.turns.slice(4) }
  t.same(testOfCall(keysAlone, { name: 'n', keep: true, recordedCall: RECORDED })?.caller, { say: [{ keys: '42' }] })
  t.end()
})

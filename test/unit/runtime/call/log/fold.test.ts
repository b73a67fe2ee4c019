import fc from 'fast-check'
import t from 'tap'
import { CallLog } from '../../../../../runtime/call/log/call-log.ts'
import type { CallEvent, CallEventBody } from '../../../../../runtime/call/log/events.ts'
import { cutOff, errorOf, fold, NOTHING_YET } from '../../../../../runtime/call/log/fold.ts'
import { resumeOf } from '../../../../../runtime/call/log/resume.ts'

const clock = { nowMs: () => 7 }
const ENDED = { type: 'ended', status: 'completed', end_reason: 'idle', disposition: 'completed' } as const
const heard = (text: string, final: boolean, interrupted = false): CallEventBody => {
  return { type: 'heard', text, start_ms: 10, end_ms: 20, final, interrupted }
}
const turn = (text: string, inputs?: number[]): CallEventBody => {
  return { type: 'turn', text, start_ms: 0, end_ms: 5, ...(inputs === undefined ? {} : { inputs }) }
}

/** The log of these events, and all that went through it. */
function written(bodies: readonly CallEventBody[]) {
  const events: CallEvent[] = []
  const log = new CallLog(clock, [(event) => events.push(event)])
  for (const body of bodies) log.append(body)
  return { log, events, state: log.state }
}

t.test('events are numbered without gaps; what is only shown has the number of what follows', async (t) => {
  const { events } = written([
    { type: 'queued' },
    heard('Good', false),
    heard('Good day', true),
    { type: 'typed', text: 'x' },
  ])
  t.same(
    events.map(({ seq, at }) => [seq, at]),
    [
      [0, 7],
      [1, 7],
      [1, 7],
      [2, 7],
    ],
  )
})

t.test('a turn has the words of the model that heard it; the agent’s turns and unknown places stay', async (t) => {
  const corrected = (turn: number): CallEventBody => {
    return { type: 'transcribed', turn, text: 'Hello.', start_ms: 0, end_ms: 5 }
  }
  const { state } = written([heard('Good day', true), turn('Helo.'), corrected(1), corrected(0), corrected(2)])
  t.same(
    state.turns.map(({ text }) => text),
    ['Good day', 'Hello.'],
  )
  t.equal(resumeOf(state).turnCount, 2)
})

t.test('a call ends once, and only its bill may come later', async (t) => {
  const { log, events } = written([ENDED, ENDED, turn('late'), { type: 'usage', stage: 'stt', seconds: 1 }])
  t.same(
    events.map(({ type }) => type),
    ['ended', 'usage'],
  )
  t.equal(log.append({ type: 'answered' }), undefined)
})

t.test('a typed turn or a key waits until it is taken, by whatever takes it', async (t) => {
  const typed: CallEventBody[] = [
    { type: 'typed', text: 'a' },
    { type: 'key', digit: '1' },
    { type: 'key', digit: '2' },
    { type: 'typed', text: 'b' },
  ]
  const waiting = (...more: CallEventBody[]) => written([...typed, ...more]).state.waiting.map(({ seq }) => seq)
  t.same(waiting(), [0, 1, 2, 3])
  t.same(waiting(turn('a', [0]), { type: 'consent', consent: 'given', inputs: [1] }), [2, 3])
  t.same(waiting({ type: 'inputs_taken', inputs: [2] }, turn('spoken')), [0, 1, 3])
  t.same(waiting({ type: 'muted' }), [], 'a machine types nothing')
})

t.test('what was heard of an answer counts when its worker dies', async (t) => {
  const { log, state } = written([turn('When?'), heard('From nine', false)])
  t.equal(state.turns.length, 1)
  const cut = cutOff(state)
  t.match(cut, { type: 'heard', text: 'From nine', interrupted: true, final: true })
  log.append(cut!)
  t.match(resumeOf(log.state).turns, [{ role: 'user' }, { role: 'assistant', text: 'From nine', interrupted: true }])
  t.equal(cutOff(log.state), undefined)
})

t.test('the next worker is told of tools with their place and what came of them', async (t) => {
  const { state } = written([
    turn('Book it.'),
    { type: 'tool_called', id: 'tool-1', name: 'book', arguments: { day: 'Monday' } },
    { type: 'tool_called', id: 'tool-2', name: 'mail', arguments: {} },
    { type: 'tool_returned', id: 'tool-1', result: 'Done', ms: 5 },
  ])
  t.strictSame(resumeOf(state).tools, [
    { id: 'tool-1', name: 'book', arguments: { day: 'Monday' }, turn: 1, result: 'Done' },
    { id: 'tool-2', name: 'mail', arguments: {}, turn: 1 },
  ])
})

t.test("a call is a supervisor's from the take-over until its worker has taken that it was given back", async (t) => {
  const who = { id: 'u', name: 'Sue' }
  const took: CallEventBody[] = [turn('Hi.'), { type: 'took_over', who }]
  t.match(written(took).state, { takenOver: true, waiting: [{ type: 'took_over' }] })
  const back: CallEventBody[] = [
    ...took,
    { type: 'inputs_taken', inputs: [1] },
    turn('Who is there?'),
    { type: 'gave_back', who, summary: 'all is well' },
  ]
  t.match(resumeOf(written(back).state), { takenOver: true, notes: [{ turn: 1, text: /in your place/ }] })
  const known = written([...back, { type: 'inputs_taken', inputs: [4] }]).state
  t.match(resumeOf(known), { takenOver: false, waiting: [], notes: [{ turn: 1 }, { turn: 2, text: /all is well/ }] })
  const again = written([...back, { type: 'took_over', who }, { type: 'inputs_taken', inputs: [4] }]).state
  t.equal(again.takenOver, true, 'the newer take-over counts')
})

t.test('what is whispered is told to each worker once', async (t) => {
  const whispered: CallEventBody = { type: 'whispered', who: { id: 'u', name: 'Sue' }, text: 'Be brief.' }
  const { state } = written([whispered])
  t.match(resumeOf(state), { notes: [], waiting: [{ type: 'whispered' }] })
  t.match(resumeOf(written([whispered, { type: 'inputs_taken', inputs: [0] }]).state), {
    notes: [{ text: /Be brief\./ }],
    waiting: [],
  })
})

t.test('the error of a call says why it ended, then what failed before, each once', async (t) => {
  const fault = (sentence: string): CallEventBody => ({ type: 'fault', stage: 'llm', sentence })
  const { state } = written([fault('a failed'), fault('a failed'), fault('b failed'), fault('x'.repeat(400))])
  t.equal(state.faults.length, 3)
  t.equal(state.faults[2]?.length, 301)
  t.equal(errorOf({ ...state, faults: ['a failed'] }, undefined), 'a failed')
  t.equal(errorOf({ ...state, faults: ['a failed', 'b failed'] }, 'Gave up: a failed'), 'Gave up: a failed. b failed')
  t.equal(errorOf(NOTHING_YET, undefined), undefined)
})

/** Anything that can happen, in any order. */
const anything = fc.oneof(
  fc.constantFrom<CallEventBody>(
    { type: 'queued' },
    { type: 'answered' },
    { type: 'speech_started' },
    { type: 'muted' },
    { type: 'greeting', step: 'consent_asked' },
    { type: 'consent', consent: 'refused', inputs: [1, 2] },
    { type: 'tool_called', id: 't', name: 'n', arguments: {} },
    { type: 'tool_returned', id: 't', result: 'r', ms: 1 },
    { type: 'tool_returned', id: 'never called', result: 'r', ms: 1 },
    { type: 'worker_lost', worker: 'w', reason: 'killed' },
    { type: 'held', direction: 'sendonly' },
    { type: 'unheld' },
    { type: 'key', digit: '5' },
    { type: 'whispered', who: { id: 'u', name: 'Sue' }, text: 'Be brief.' },
    { type: 'took_over', who: { id: 'u', name: 'Sue' } },
    { type: 'gave_back', who: { id: 'u', name: 'Sue' } },
    { type: 'inputs_taken', inputs: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] },
    ENDED,
  ),
  fc.string().map((text): CallEventBody => ({ type: 'typed', text })),
  fc.tuple(fc.string(), fc.boolean(), fc.boolean()).map(([text, final, cut]) => heard(text, final, cut)),
  fc.tuple(fc.string(), fc.array(fc.nat(20), { maxLength: 5 })).map(([text, inputs]) => turn(text, inputs)),
)

t.test(
  'every prefix of every log is a state a worker can start from, and says no less than the prefix before',
  async () => {
    fc.assert(
      fc.property(fc.array(anything, { maxLength: 40 }), (bodies) => {
        const { events } = written(bodies)
        let state = NOTHING_YET
        for (const event of events) {
          const before = state
          state = fold(state, event)
          const resume = resumeOf(state)
          if (resume.turns.length < before.turns.length) throw new Error('a turn was forgotten')
          if (resume.tools.length < before.tools.length) throw new Error('a tool was forgotten')
          const known = new Set(events.map(({ seq }) => seq))
          if (resume.waiting.some(({ seq }) => !known.has(seq))) throw new Error('an input nobody gave')
          if (JSON.stringify(JSON.parse(JSON.stringify(resume))) !== JSON.stringify(resume))
            throw new Error('not for the wire')
        }
      }),
      { numRuns: 500 },
    )
  },
)

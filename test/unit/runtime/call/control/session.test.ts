import fc from 'fast-check'
import t from 'tap'
import {
  outcomeOf,
  QUEUED,
  type SessionEffect,
  type SessionEvent,
  type SessionState,
  step,
} from '../../../../../runtime/call/control/session.ts'
import { NOTHING_YET } from '../../../../../runtime/call/log/fold.ts'
import type { Turn } from '../../../../../runtime/call/log/resume.ts'
import type { Outcome } from '../../../../../runtime/call/types/outcome.ts'

const QUEUE_WAIT_MS = 5_000
const WAITS = { queueMs: QUEUE_WAIT_MS, recoveryMs: 20_000 }
const turn = (text: string, role: Turn['role'] = 'assistant'): Turn => ({
  role,
  text,
  startMs: 0,
  endMs: 1,
  interrupted: false,
})

function play(events: readonly SessionEvent[], everyMs = 10): { state: SessionState; effects: SessionEffect[] } {
  let state = QUEUED
  const effects: SessionEffect[] = []
  for (const [i, event] of events.entries()) {
    const next = step(state, event, i * everyMs, WAITS)
    state = next.state
    effects.push(...next.effects)
  }
  return { state, effects }
}

/** How the call ended, after what was said. */
function outcome({ state, effects }: ReturnType<typeof play>, turns: readonly Turn[] = []): Outcome {
  const last = effects.at(-1)
  if (last?.type !== 'finish') throw new Error('The call did not end')
  return outcomeOf(last.cause, state.answeredAtMs !== undefined, { ...NOTHING_YET, turns })
}

const types = (effects: readonly SessionEffect[]) => effects.map(({ type }) => type)
const UP: SessionEvent[] = [{ type: 'connected' }, { type: 'seated' }, { type: 'accepted' }]

t.test('a call rings while a worker is looked for, and is answered when one accepts', async (t) => {
  const { state, effects } = play(UP)
  t.same(types(effects), ['record_ringing', 'seek', 'offer', 'answer'])
  t.equal(state.phase, 'in_progress')
  t.equal(state.answeredAtMs, 20)
})

t.test('a worker that declines is followed by another until the wait is over', async (t) => {
  const declined: SessionEvent[] = [{ type: 'seated' }, { type: 'declined' }]
  const again = play([{ type: 'connected' }, ...declined, ...declined])
  t.same(types(again.effects).slice(-2), ['offer', 'seek'])
  const over = play([{ type: 'connected' }, ...declined], QUEUE_WAIT_MS)
  t.match(outcome(over), { status: 'failed', endReason: 'no_capacity' })
})

t.test('a call that lost its worker waits longer for the next than a call that rings', async (t) => {
  const { state } = play([...UP, { type: 'worker_lost' }])
  t.equal(state.seekUntilMs, 30 + WAITS.recoveryMs)
  const again = play([...UP, { type: 'worker_lost' }, { type: 'seated' }, { type: 'worker_lost' }])
  t.equal(again.state.seekUntilMs, 30 + WAITS.recoveryMs, 'a second loss while it is taken over starts no new wait')
})

t.test('a call that loses workers in a row is offered without what they were lost at, and then given up', async (t) => {
  const loss = (mayLeaveOut = true): SessionEvent[] => [
    { type: 'worker_lost', cameTo: { turns: 1, answers: 0, mayLeaveOut } },
    { type: 'seated' },
    { type: 'accepted' },
  ]
  const again = (times: number, mayLeaveOut?: boolean) => Array.from({ length: times }, () => loss(mayLeaveOut)).flat()
  t.notOk(types(play([...UP, ...again(2)]).effects).includes('leave_out'))
  t.same(types(play([...UP, ...again(3)]).effects).slice(-5), ['leave_out', 'hold', 'seek', 'offer', 'resume'])
  t.match(outcome(play([...UP, ...again(6)])), { endReason: 'error', error: /6 voice workers were lost in a row/ })
  t.match(outcome(play([...UP, ...again(3, false)])), { endReason: 'error', error: /3 voice workers/ })
  const opening: SessionEvent[] = [{ type: 'seated' }, loss()[0]!]
  const unopened = play([{ type: 'connected' }, ...opening, ...opening, ...opening])
  t.match(
    outcome(unopened),
    { endReason: 'error', error: /3 voice workers/ },
    'a call that nobody opened has nothing to leave out',
  )
  const drained = Array.from({ length: 9 }, (): SessionEvent[] => [{ type: 'worker_lost' }, ...loss().slice(1)]).flat()
  t.equal(play([...UP, ...drained]).state.phase, 'in_progress', 'workers that drain are not counted')
})

t.test('a call that is taken over is answered once', async (t) => {
  const { effects } = play([...UP, { type: 'worker_lost' }, { type: 'seated' }, { type: 'accepted' }])
  t.same(types(effects).slice(-3), ['seek', 'offer', 'resume'])
  t.equal(effects.filter(({ type }) => type === 'answer').length, 1)
})

t.test('how a call ended follows from why, and from how far it got', async (t) => {
  const cases: [SessionEvent[], Record<string, unknown>, Turn[]?][] = [
    [
      [{ type: 'connected' }, { type: 'leg_ended', reason: 'caller_hangup' }],
      { status: 'canceled', disposition: 'hung_up' },
    ],
    [
      [{ type: 'connected' }, { type: 'no_capacity' }],
      { status: 'failed', endReason: 'no_capacity', error: 'No voice worker is free' },
    ],
    [
      [{ type: 'connected' }, { type: 'seated' }, { type: 'refused', message: 'no such voice' }],
      { status: 'failed', endReason: 'error', error: 'no such voice' },
    ],
    [[...UP, { type: 'leg_ended', reason: 'caller_hangup' }], { status: 'completed', disposition: 'hung_up' }],
    [
      [...UP, { type: 'leg_ended', reason: 'connection_lost' }],
      { status: 'completed', disposition: 'completed' },
      [turn('hi', 'user')],
    ],
    [[...UP, { type: 'agent_ended', reason: 'idle' }], { status: 'completed', endReason: 'idle' }],
    [[...UP, { type: 'agent_ended', reason: 'error', error: 'x' }], { status: 'failed', error: 'x' }],
    [[...UP, { type: 'worker_lost' }, { type: 'no_capacity' }], { status: 'failed', endReason: 'worker_lost' }],
    [[...UP, { type: 'leg_ended', reason: 'shutdown' }], { status: 'failed', endReason: 'shutdown' }],
  ]
  for (const [events, expected, turns] of cases) t.match(outcome(play(events), turns), expected)
})

t.test('whatever happens, a call ends at most once, nothing follows, and a leg that ended ends it', async (t) => {
  const any = fc.constantFrom<SessionEvent>(
    { type: 'connected' },
    { type: 'seated' },
    { type: 'accepted' },
    { type: 'declined' },
    { type: 'refused', message: 'no' },
    { type: 'worker_lost' },
    { type: 'no_capacity' },
    { type: 'agent_ended', reason: 'idle' },
    { type: 'hung_up' },
  )
  const endsOnce = () =>
    fc.assert(
      fc.property(fc.array(any, { maxLength: 20 }), fc.array(any, { maxLength: 5 }), (before, after) => {
        const { state, effects } = play([...before, { type: 'leg_ended', reason: 'caller_hangup' }, ...after])
        const ends = types(effects).filter((type) => type === 'finish').length
        const answers = types(effects).filter((type) => type === 'answer').length
        const last = effects.at(-1)?.type
        if (ends !== 1 || answers > 1 || last !== 'finish' || state.phase !== 'ended') {
          throw new Error(`${ends} ends, ${answers} answers, last ${last}, ${state.phase}`)
        }
      }),
      { numRuns: 2000 },
    )
  t.doesNotThrow(endsOnce)
})

t.test(
  'a callee whom nobody is free for in time hears an announcement, and was abandoned however it ends',
  async (t) => {
    const waits = { ...WAITS, announces: true }
    const run = (events: readonly SessionEvent[]) => {
      let state = QUEUED
      const effects: SessionEffect[] = []
      for (const event of events) {
        const next = step(state, event, 0, waits)
        state = next.state
        effects.push(...next.effects)
      }
      return { state, effects }
    }
    const late: SessionEvent[] = [{ type: 'connected' }, { type: 'no_capacity' }]
    t.same(types(run([...late, { type: 'accepted' }]).effects), ['record_ringing', 'seek', 'announce', 'answer'])
    const abandoned = { status: 'completed', endReason: 'abandoned', disposition: 'abandoned' }
    const ends: SessionEvent[][] = [
      [{ type: 'accepted' }, { type: 'agent_ended', reason: 'agent_hangup' }],
      [{ type: 'accepted' }, { type: 'leg_ended', reason: 'caller_hangup' }],
      [{ type: 'accepted' }, { type: 'worker_lost' }],
      [{ type: 'leg_ended', reason: 'caller_hangup' }],
      [{ type: 'refused', message: 'no voice' }],
      [{ type: 'declined' }, { type: 'no_capacity' }],
    ]
    for (const end of ends) t.match(outcome(run([...late, ...end])), abandoned, JSON.stringify(end))
    t.same(types(run([...late, { type: 'declined' }]).effects).slice(-1), ['announce'], 'another worker is asked')
    const seated = run([{ type: 'connected' }, { type: 'seated' }, { type: 'accepted' }, { type: 'no_capacity' }])
    t.match(outcome(seated), { endReason: 'worker_lost' }, 'who had an agent was not abandoned')
    const left = run([{ type: 'connected' }, { type: 'leg_ended', reason: 'caller_hangup' }])
    t.match(outcome(left), { endReason: 'caller_hangup', status: 'canceled' }, 'who hung up before was not, either')
  },
)

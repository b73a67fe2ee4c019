import fc from 'fast-check'
import t from 'tap'
import {
  type DialEvent,
  type DialPhase,
  type DialTerms,
  dialStep,
} from '../../../../../runtime/call/control/dial-step.ts'
import { outcomeOfFailure, SHUTDOWN, VOICEMAIL } from '../../../../../runtime/plugin-sdk/telephony/outcome.ts'

const RESERVED: DialTerms = { hangsUpOnMachines: true, isReserved: true }
const BUSY = outcomeOfFailure('busy')
const REFUSED = outcomeOfFailure('carrier')

/** What follows a sequence of events, in short. */
function run(events: readonly DialEvent[], rules = RESERVED): { phase: DialPhase; effects: string[] } {
  let phase: DialPhase = 'ordered'
  const effects: string[] = []
  for (const event of events) {
    const step = dialStep(phase, event, rules)
    phase = step.phase
    for (const effect of step.effects) {
      const what = effect.type === 'log' ? effect.event.type : effect.type === 'end' ? effect.outcome.endReason : ''
      effects.push(`${effect.type} ${what}`.trim())
    }
  }
  return { phase, effects }
}

t.test('a call rings, is answered and joined', async (t) => {
  const answered = { type: 'answered', by: 'human' } as const
  const events: DialEvent[] = [
    { type: 'accepted', carrierId: 'c' },
    { type: 'ringing' },
    { type: 'figures', figures: { trunk: 'peer' } },
    { type: 'ringing' },
    answered,
    { type: 'figures', figures: { sipStatus: 200 } },
  ]
  t.same(run(events), { phase: 'answered', effects: ['log carrier', 'log ringing', 'log carrier', 'join'] })
  t.same(run([answered], { ...RESERVED, isReserved: false }), { phase: 'answered', effects: ['log picked_up', 'join'] })
})

t.test('the first that decides what becomes of a call decides it for good', async (t) => {
  const answered = { type: 'answered', by: 'human' } as const
  const canceled = { type: 'canceled', outcome: SHUTDOWN } as const
  const failed = { type: 'failed', outcome: BUSY } as const
  t.same(run([failed, canceled, answered]), { phase: 'failed', effects: ['end busy', 'close_leg'] })
  t.same(run([{ type: 'ringing' }, canceled, failed, answered, { type: 'ringing' }]), {
    phase: 'canceled',
    effects: ['log ringing', 'end shutdown', 'hang_up', 'close_leg'],
  })
  t.same(run([answered, failed, canceled, answered]), { phase: 'answered', effects: ['join', 'close_leg'] })
})

t.test('an agent that says nothing to machines hangs up on one', async (t) => {
  const machine = { type: 'answered', by: 'machine' } as const
  t.same(run([machine]), { phase: 'canceled', effects: [`end ${VOICEMAIL.endReason}`, 'hang_up'] })
  t.same(run([machine], { ...RESERVED, hangsUpOnMachines: false }).phase, 'answered')
})

t.test('an order that the carrier did not confirm is ended there too, but not under an answered call', async (t) => {
  const rejected = { type: 'rejected', outcome: REFUSED } as const
  t.same(run([rejected]), { phase: 'failed', effects: ['end carrier_error', 'hang_up'] })
  t.same(run([{ type: 'canceled', outcome: SHUTDOWN }, rejected]).effects, ['end shutdown', 'hang_up', 'hang_up'])
  t.same(run([{ type: 'answered', by: 'human' }, rejected]), { phase: 'answered', effects: ['join'] })
})

t.test('whatever happens, a call is joined once or ended once', async () => {
  const event = fc.constantFrom<DialEvent>(
    { type: 'accepted', carrierId: 'c' },
    { type: 'figures', figures: { trunk: 'peer' } },
    { type: 'ringing' },
    { type: 'answered', by: 'human' },
    { type: 'answered', by: 'machine' },
    { type: 'failed', outcome: BUSY },
    { type: 'canceled', outcome: SHUTDOWN },
    { type: 'rejected', outcome: REFUSED },
  )
  fc.assert(
    fc.property(fc.array(event), fc.boolean(), fc.boolean(), (events, hangsUpOnMachines, isReserved) => {
      const { phase, effects } = run(events, { hangsUpOnMachines, isReserved })
      const [joins, ends] = ['join', 'end '].map((head) => effects.filter((one) => one.startsWith(head)).length)
      const isDecided = phase !== 'ordered' && phase !== 'ringing'
      return joins! + ends! === (isDecided ? 1 : 0) && joins === (phase === 'answered' ? 1 : 0)
    }),
  )
})

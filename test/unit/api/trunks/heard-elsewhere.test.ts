import t from 'tap'
import { heardElsewhere } from '../../../../api/trunks/heard-elsewhere.ts'
import type { TrunkAttempt } from '../../../../runtime/plugin-sdk/telephony/trunk.ts'

const STATE = {
  ...{ contact: undefined, activeCalls: 2, attempts: 0, answered: 0, failovers: 0, byStatus: new Map() },
  ...{ asr: undefined, acdS: undefined, pddMs: undefined },
}
const REFUSED: TrunkAttempt = { method: 'REGISTER', ok: false, status: 403, reason: 'Forbidden', atMs: 5_000 }
const contact = { status: 403, reason: 'Forbidden', atMs: 5_000 }

t.test('a node that does not register with a trunk says what the one that does was answered', async (t) => {
  t.same(heardElsewhere(new Date(4_000), STATE, REFUSED), { ...STATE, contact })
})

t.test('what answers OPTIONS is there, whatever it says', async (t) => {
  const asked = { ...REFUSED, method: 'OPTIONS', ok: true, status: 404, reason: 'Not Found' } as const
  t.match(heardElsewhere(new Date(4_000), STATE, asked), { contact: { status: 200 } })
})

t.test('a node’s own answer goes first, and what was said before a change is no news', async (t) => {
  const own = { ...STATE, contact: { status: 200, reason: 'OK', atMs: 1 } }
  t.equal(heardElsewhere(new Date(4_000), own, REFUSED), own)
  t.equal(heardElsewhere(new Date(6_000), STATE, REFUSED), STATE)
  t.equal(heardElsewhere(new Date(4_000), STATE, undefined), STATE)
  t.equal(heardElsewhere(new Date(4_000), undefined, REFUSED), undefined, 'it takes no calls')
})

import t from 'tap'
import { desk } from './support/desk.ts'

const begin = (agent: Parameters<typeof desk>[0] = {}) => {
  const one = desk(agent)
  one.report({ type: 'begin' })
  one.take()
  return one
}
const fills = (did: string[]) => did.filter((one) => one.startsWith('fills'))

t.test('a caller who waits hears something within four seconds, and again', async (t) => {
  const { report, take, pass, says, told } = begin()
  says('Are you open?')
  take()
  pass(2_900)
  t.same(take(), [])
  pass(200)
  t.same(take(), ['fills: One moment, please.'])
  t.same(told.at(-1), { type: 'filler', text: 'One moment, please.' })
  pass(1_000)
  report({ type: 'filler_over' })
  pass(3_400)
  t.same(take(), [])
  pass(200)
  t.same(take(), ["fills: I'm still working on that, just a moment longer."])
})

t.test('nobody who does not wait is spoken to, and who speaks is not talked over', async (t) => {
  const { report, take, pass, says, speaks, now } = begin()
  pass(10_000)
  says('Are you open?')
  pass(1_000)
  speaks('Yes.')
  pass(10_000)
  t.same(fills(take()), [])
  says('And tomorrow?')
  pass(3_100)
  report({ type: 'speech_started', atMs: now() })
  t.same(take().at(-1), 'hushes')
})

t.test('a noise is owed nothing', async (t) => {
  const { report, take, pass, now } = begin()
  report({ type: 'words_overdue', endMs: now() })
  report({ type: 'noise' })
  pass(10_000)
  t.same(fills(take()), [])
})

t.test('an agent says its own phrases in turn, or none', async (t) => {
  const own = begin({ deadAir: { enabled: true, phrases: ['Let me look.', 'Nearly there.'] } })
  own.says('Are you open?')
  for (let i = 0; i < 3; i++) {
    own.pass(3_600)
    own.report({ type: 'filler_over' })
  }
  t.same(fills(own.take()), ['fills: Let me look.', 'fills: Nearly there.', 'fills: Let me look.'])
  const none = begin({ deadAir: { enabled: false, phrases: [] } })
  none.says('Are you open?')
  none.pass(10_000)
  t.same(fills(none.take()), [])
})

t.test('a caller on hold waits for nothing', async (t) => {
  const { report, take, pass, says } = begin()
  says('Are you open?')
  report({ type: 'input', event: { type: 'held', direction: 'sendonly', seq: 0, at: 0 } })
  pass(10_000)
  t.same(fills(take()), [])
})

t.test('a caller who is being led to another person hears music, and no filler', async (t) => {
  const { report, take, pass, says } = begin()
  says('Can I talk to sales?')
  report({ type: 'transferring', on: true })
  pass(30_000)
  t.same(fills(take()), [])
  report({ type: 'transferring', on: false })
  says('Hello?')
  pass(3_100)
  t.same(fills(take()), ['fills: One moment, please.'])
})

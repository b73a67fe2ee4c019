import { pino } from 'pino'
import t from 'tap'
import { Leases } from '../../../../../runtime/call/control/leases.ts'
import { systemClock } from '../../../../../runtime/lib/clock.ts'

/** Leases whose shared part is a set, and calls whose ends are written when the test says so. */
function world() {
  const shared = new Set<string>()
  const unwritten = new Map<string, PromiseWithResolvers<void>>()
  const reported: string[][] = []
  const leases = new Leases({
    callLeases: {
      async renew(callIds) {
        for (const id of callIds) shared.add(id)
      },
      async drop(callId) {
        shared.delete(callId)
      },
    },
    slots: { renew: async () => [], onForgotten: () => () => {} },
    report: async (callIds) => void reported.push([...callIds]),
    settled: (callId) => unwritten.get(callId)?.promise,
    clock: systemClock,
    log: pino({ level: 'silent' }),
  })
  t.teardown(() => leases.stop())
  return { leases, shared, unwritten, reported }
}

t.test('the lease of a call whose end is written goes at once', async (t) => {
  const { leases, shared } = world()
  await leases.holdCall('one')
  await leases.dropCall('one')
  t.same([...shared], [])
})

t.test(
  'a call whose end the database has not taken yet stays leased and reported, for as long as that is so',
  async (t) => {
    const { leases, shared, unwritten, reported } = world()
    await leases.holdCall('one')
    const end = Promise.withResolvers<void>()
    unwritten.set('one', end)
    await leases.dropCall('one')
    shared.clear()
    await leases.renew()
    t.same([...shared], ['one'])
    t.same(reported.at(-1), ['one'])
    end.resolve()
    await new Promise(setImmediate)
    t.same([...shared], [])
    await leases.renew()
    t.same([...shared], [])
  },
)

t.test('a call that is held anew keeps its lease when the end of what it was before is written', async (t) => {
  const { leases, shared, unwritten } = world()
  await leases.holdCall('one')
  const end = Promise.withResolvers<void>()
  unwritten.set('one', end)
  await leases.dropCall('one')
  await leases.holdCall('one')
  end.resolve()
  await new Promise(setImmediate)
  t.same([...shared], ['one'])
})

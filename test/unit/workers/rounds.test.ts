import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { startPeriodicJob } from '../../../workers/rounds.ts'

const NEVER_MS = 3_600_000
const unexpected = (err: unknown): never => {
  throw err
}

t.test('rounds follow each other, and none begins while one runs', async (t) => {
  let running = 0
  let most = 0
  let ended = 0
  const rounds = startPeriodicJob(
    async () => {
      most = Math.max(most, ++running)
      await sleep(20)
      running--
      ended++
    },
    { intervalMs: 2, onError: unexpected },
  )
  while (ended < 3) await sleep(1)
  await rounds.stop()
  const atStop = ended
  await sleep(20)
  t.equal(most, 1)
  t.same([running, ended], [0, atStop], 'it waited for the last one and began no other')
})

t.test('a round that is asked for while one runs is that one', async (t) => {
  const open = Promise.withResolvers<void>()
  let begun = 0
  const round = (): Promise<void> => {
    begun++
    return open.promise
  }
  const rounds = startPeriodicJob(round, { intervalMs: NEVER_MS, atOnce: true, onError: unexpected })
  const asked = rounds.now()
  t.equal(begun, 1)
  open.resolve()
  await asked
  await rounds.now()
  t.equal(begun, 2)
  await rounds.stop()
})

t.test('a round that fails is told, and the next one tries again', async (t) => {
  const told: unknown[] = []
  let tries = 0
  const rounds = startPeriodicJob(
    async () => {
      if (++tries === 1) throw new Error('no database')
    },
    { intervalMs: 2, onError: (err) => told.push(err) },
  )
  while (tries < 2) await sleep(1)
  await rounds.stop()
  t.match(told, [{ message: 'no database' }])
  t.equal(told.length, 1)
})

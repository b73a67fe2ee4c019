import { once } from 'node:events'
import t from 'tap'
import { startClaimedWork, type Wanted } from '../../../workers/claimed-work.ts'

const NEVER_MS = 3_600_000
const unexpected = (err: unknown): never => {
  throw err
}

t.test('a workspace that has its part is not asked for, and no more is wanted than there is room for', async (t) => {
  const asked: Wanted[] = []
  const third = Promise.withResolvers<void>()
  const open = Promise.withResolvers<void>()
  const answers = [[{ workspaceId: 'a' }, { workspaceId: 'b' }], [{ workspaceId: 'a' }], []]
  const work = startClaimedWork({
    ...{ atOnce: 4, mostOfOne: 2, intervalMs: 2, onError: unexpected },
    claim: async (wanted) => {
      if (asked.push(wanted) === 3) third.resolve()
      return answers[asked.length - 1] ?? []
    },
    run: () => open.promise,
  })
  await third.promise
  open.resolve()
  await work.stop(NEVER_MS)
  t.same(asked.slice(0, 3), [
    { limit: 4, mostOfOne: 2, busy: [] },
    { limit: 2, mostOfOne: 2, busy: [] },
    { limit: 1, mostOfOne: 2, busy: ['a'] },
  ])
})

t.test('work that ends while the process stops is followed by no other, and what runs on is cut off', async (t) => {
  let claims = 0
  const [short, begun] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const errors: unknown[] = []
  const work = startClaimedWork({
    ...{ atOnce: 3, mostOfOne: 3, intervalMs: 2, isShort: true },
    claim: async () => (claims++ === 0 ? [{ workspaceId: 'short' }, { workspaceId: 'long' }] : []),
    onError: (err) => errors.push(err),
    run: async ({ workspaceId }, signal) => {
      if (workspaceId === 'short') return short.promise
      begun.resolve()
      await once(signal, 'abort')
      throw new Error('cut off')
    },
  })
  await begun.promise
  const stopping = work.stop(20)
  const before = claims
  short.resolve()
  await stopping
  t.equal(claims, before)
  t.match(errors, [{ message: 'cut off' }])
})

import fc from 'fast-check'
import t from 'tap'
import { FairQueue } from '../../../../runtime/admission/fair-queue.ts'

const drain = <T>(queue: FairQueue<T>): T[] => {
  const all: T[] = []
  for (let item = queue.next(); item !== undefined; item = queue.next()) all.push(item)
  return all
}

t.test('one item beside a million waits for one turn', (t) => {
  const queue = new FairQueue<string>(1_000_000)
  for (let i = 0; i < 100_000; i++) queue.add(`a${i}`, { workspaceId: 'a' })
  queue.next()
  queue.next()
  queue.add('b', { workspaceId: 'b' })
  t.ok([queue.next(), queue.next()].includes('b'))
  t.end()
})

t.test('units of a workspace take turns, each in its own order', (t) => {
  const queue = new FairQueue<string>(100)
  for (const item of ['x1', 'x2', 'x3', 'y1', 'z1', 'z2']) queue.add(item, { workspaceId: 'a', unit: item[0]! })
  t.same(drain(queue), ['x1', 'y1', 'z1', 'x2', 'z2', 'x3'])
  t.equal(queue.size, 0)
  t.end()
})

t.test('a weight of two gets two turns for one', (t) => {
  const queue = new FairQueue<string>(100)
  for (let i = 0; i < 20; i++) {
    queue.add(`a${i}`, { workspaceId: 'a', weight: 2 })
    queue.add(`b${i}`, { workspaceId: 'b' })
  }
  const first = Array.from({ length: 15 }, () => queue.next()?.[0])
  t.equal(first.filter((name) => name === 'a').length, 10)
  t.end()
})

t.test('in a full line the newest of the longest leaves; who has least is let in', (t) => {
  const queue = new FairQueue<string>(4)
  for (const item of ['a1', 'a2', 'a3', 'b1']) t.equal(queue.add(item, { workspaceId: item[0]! }), undefined)
  t.equal(queue.add('a4', { workspaceId: 'a' }), 'a4')
  t.equal(queue.add('c1', { workspaceId: 'c' }), 'a3')
  t.equal(queue.add('c2', { workspaceId: 'c' }), 'c2', 'two of each would be: who waits already stays')
  t.same(drain(queue).sort(), ['a1', 'a2', 'b1', 'c1'])
  t.end()
})

t.test('whatever comes, goes and leaves: no workspace that waits is passed over twice by another', (t) => {
  const step = fc.record({
    kind: fc.constantFrom('add', 'add', 'add', 'next', 'next', 'leave'),
    of: fc.nat({ max: 4 }),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const queue = new FairQueue<number>(1_000)
      const owner = new Map<number, string>()
      /** For each pair: turns the second had while the first waited. */
      const passed = new Map<string, number>()
      let id = 0
      for (const { kind, of } of steps) {
        const workspaceId = `w${of}`
        if (kind === 'add') {
          if (queue.sizeOf(workspaceId) === 0)
            for (const key of [...passed.keys()]) if (key.startsWith(workspaceId)) passed.delete(key)
          owner.set(++id, workspaceId)
          queue.add(id, { workspaceId })
        } else if (kind === 'leave') {
          const [any] = [...owner].filter(([, of]) => of === workspaceId).map(([item]) => item)
          if (any !== undefined && queue.remove(any)) owner.delete(any)
        } else {
          const item = queue.next()
          if (item === undefined) continue
          const served = owner.get(item)!
          owner.delete(item)
          for (const key of [...passed.keys()]) if (key.startsWith(served)) passed.delete(key)
          for (const other of queue.workspaceIds.filter((one) => one !== served)) {
            const turns = (passed.get(`${other}<${served}`) ?? 0) + 1
            if (turns > 2) throw new Error(`${served} passed ${other} ${turns} times`)
            passed.set(`${other}<${served}`, turns)
          }
        }
      }
    }),
    { numRuns: 300 },
  )
  t.end()
})

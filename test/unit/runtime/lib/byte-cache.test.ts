import { test } from 'tap'
import { ByteCache } from '../../../../runtime/lib/byte-cache.ts'

test('values go that were not used for longest, of the owner that has too much first', async (t) => {
  const cache = new ByteCache<string>({ mostEntries: 10, mostBytes: 100, mostBytesOfOwner: 50 })
  const kept = (...keys: string[]) => keys.filter((key) => cache.get(key) !== undefined).join('')
  cache.set('a', 'A', { owner: 'x', bytes: 20 })
  cache.set('b', 'B', { owner: 'y', bytes: 20 })
  cache.set('c', 'C', { owner: 'y', bytes: 20 })
  cache.set('d', 'D', { owner: 'y', bytes: 20 })
  t.equal(kept('a', 'b', 'c', 'd'), 'acd', 'of y alone')
  cache.set('e', 'E', { owner: 'z', bytes: 50 })
  t.equal(cache.bytes, 90)
  t.equal(kept('a', 'c', 'd', 'e'), 'cde', 'of all, the oldest')
  cache.set('c', 'C2', { owner: 'y', bytes: 1 })
  t.equal(cache.get('c'), 'C2')
  t.equal(cache.bytes, 71)
  cache.set('f', 'F', { owner: 'x', bytes: 51 })
  t.equal(cache.get('f'), undefined, 'too large for its owner')
})

test('values are bounded in number, too', async (t) => {
  const cache = new ByteCache<number>({ mostEntries: 2, mostBytes: 100, mostBytesOfOwner: 100 })
  for (const [i, key] of ['a', 'b', 'c'].entries()) cache.set(key, i, { owner: key, bytes: 0 })
  t.same(
    ['a', 'b', 'c'].map((key) => cache.get(key)),
    [undefined, 1, 2],
  )
  t.equal(cache.bytes, 0)
})

import fc from 'fast-check'
import t from 'tap'
import { beyondBounds } from '../../../../runtime/lib/json-bounds.ts'

const ANY = 1_000_000

t.test('depth counts arrays and objects, not what strings hold', (t) => {
  const isDeeper = (text: string, depth: number) => beyondBounds(text, { depth, parts: ANY }) === 'depth'
  const arrays = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
  t.equal(isDeeper(arrays(10), 10), false)
  t.equal(isDeeper(arrays(11), 10), true)
  t.equal(isDeeper(JSON.stringify(Array.from({ length: 50 }, () => [])), 2), false)
  t.equal(isDeeper(JSON.stringify(['[[[[[[[\\"[[[[', '"[[[[[[[[[']), 1), false)
  t.equal(isDeeper(`${'{"\\"":['.repeat(3)}${']}'.repeat(3)}          `, 5), true)
  t.end()
})

t.test('parts are fields, arrays and objects, whatever strings hold', (t) => {
  const count = (value: unknown): number => {
    if (typeof value !== 'object' || value === null) return 0
    const within = Object.values(value).reduce((sum: number, one) => sum + count(one), 1)
    return within + (Array.isArray(value) ? 0 : Object.keys(value).length)
  }
  fc.assert(
    fc.property(fc.json(), (text) => {
      const parts = count(JSON.parse(text))
      // A key that comes twice is parsed twice.
      if (!/"([^"]*)":.*"\1":/.test(text)) t.equal(beyondBounds(text, { depth: ANY, parts }), undefined, text)
      if (parts > 0) t.equal(beyondBounds(text, { depth: ANY, parts: parts - 1 }), 'parts', text)
    }),
    { numRuns: 300 },
  )
  t.end()
})

t.test('a text of backslashes and quotes is read in time that grows with its length', (t) => {
  const before = process.cpuUsage()
  for (const unit of ['\\"', '\\\\', '"', '\\"\\\\', ':'])
    beyondBounds(`"${unit.repeat(500_000)}`, { depth: 9, parts: ANY })
  t.ok(process.cpuUsage(before).user < 5_000_000)
  t.end()
})

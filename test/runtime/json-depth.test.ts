import t from 'tap'
import { isNestedDeeper } from '../../runtime/json-depth.ts'

t.test('depth counts arrays and objects, not what strings hold', (t) => {
  const arrays = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
  t.equal(isNestedDeeper(arrays(10), 10), false)
  t.equal(isNestedDeeper(arrays(11), 10), true)
  t.equal(isNestedDeeper(JSON.stringify(Array.from({ length: 50 }, () => [])), 2), false)
  t.equal(isNestedDeeper(JSON.stringify(['[[[[[[[\\"[[[[', '"[[[[[[[[[']), 1), false)
  t.equal(isNestedDeeper(`${'{"\\"":['.repeat(3)}${']}'.repeat(3)}          `, 5), true)
  t.end()
})

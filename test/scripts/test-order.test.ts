import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { LastTimes, longestFirst } from '../../scripts/test-order.ts'
import { testFolder } from '../support/services.ts'

t.test('what took longest begins first, after what nobody knows of yet', async (t) => {
  const seconds = new Map([
    ['short', 1],
    ['long', 60],
  ])
  const units = [
    { name: 'short', group: ['a'] },
    { name: 'new group', group: ['b', 'c'] },
    { name: 'long', group: ['d'] },
    { name: 'new file', group: ['e'] },
  ]
  const order = longestFirst(units, { of: (name) => seconds.get(name) })
  t.same(
    order.map(({ name }) => name),
    ['new file', 'new group', 'long', 'short'],
  )
})

t.test('times are kept from one run to the next, and a broken file is as none', async (t) => {
  const folder = await testFolder(t)
  const first = new LastTimes(folder)
  t.equal(first.of('a'), undefined)
  first.took('a', 1.234)
  first.keep()
  t.equal(new LastTimes(folder).of('a'), 1.2)
  await writeFile(join(folder, 'patchbay', 'test-times.json'), '{"a":')
  t.equal(new LastTimes(folder).of('a'), undefined)
})

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { inOrder, LastTimes } from '../../../scripts/test-order.ts'
import { testFolder } from '../../support/instance/services.ts'

t.test('files that share a process begin first; of either what nobody knows of, then what took longest', async (t) => {
  const seconds = new Map([
    ['short', 1],
    ['long', 60],
    ['long group', 90],
  ])
  const units = [
    { name: 'short', group: ['a'] },
    { name: 'new group', group: ['b', 'c'] },
    { name: 'long', group: ['d'] },
    { name: 'long group', group: ['f', 'g'] },
    { name: 'new file', group: ['e'] },
  ]
  const order = inOrder(units, { of: (name) => seconds.get(name) })
  t.same(
    order.map(({ name }) => name),
    ['new group', 'long group', 'new file', 'long', 'short'],
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

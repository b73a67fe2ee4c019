import { pino } from 'pino'
import t from 'tap'
import { ResourceStack } from '../../../../runtime/process/resource-stack.ts'

t.test('what was opened is closed in the opposite order, once, whatever fails', async (t) => {
  const opened = new ResourceStack('test', pino({ level: 'silent' }))
  const closed: string[] = []
  opened.push((graceMs) => closed.push(`first ${graceMs}`))
  opened.push(() => {
    throw new Error('at once')
  })
  opened.push(() => Promise.reject(new Error('late')))
  opened.push(async () => closed.push('last'))
  await opened.close(5)
  await opened.close(5)
  t.same(closed, ['last', 'first 5'])
})

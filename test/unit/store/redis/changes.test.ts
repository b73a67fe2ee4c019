import { pino } from 'pino'
import t from 'tap'
import { openChanges } from '../../../../store/redis/changes.ts'
import { createRedis } from '../../../../store/redis/client.ts'
import { testRedis } from '../../../support/instance/services.ts'

t.test('every node hears of a change once, and who made it waits for those who watch at its own', async (t) => {
  const log = pino({ level: 'silent' })
  const redis = await createRedis(await testRedis(t), log)
  t.teardown(() => redis.destroy())
  const open = () => openChanges(redis, 'changes', { what: 'Listening', log })
  const [here, elsewhere] = await Promise.all([open(), open()])
  const known: string[] = []
  here.watch(async () => {
    await new Promise(setImmediate)
    known.push('here')
  })
  const heard = Promise.withResolvers<void>()
  const left = elsewhere.watch(async () => {
    known.push('left')
  })
  left()
  elsewhere.watch(async () => {
    known.push('elsewhere')
    heard.resolve()
  })
  await here.tell()
  t.ok(known.includes('here'))
  await heard.promise
  // What it said itself would have come back to it before this.
  await elsewhere.tell()
  while (known.length < 4) await new Promise(setImmediate)
  t.same(known.sort(), ['elsewhere', 'elsewhere', 'here', 'here'])
  here.stop()
  elsewhere.stop()
})

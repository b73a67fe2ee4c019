import { pino } from 'pino'
import t from 'tap'
import { createRedis } from '../../../../store/redis/client.ts'
import { noteTrunkEvent, trunkEvents } from '../../../../store/redis/trunk-events.ts'
import { testRedis } from '../../../support/instance/services.ts'

t.test('what became of a trunk is kept once, however many nodes tell it', async (t) => {
  const redis = await createRedis(await testRedis(t), pino({ level: 'silent' }))
  t.teardown(() => redis.destroy())
  const tell = (type: 'down' | 'up', atMs: number) =>
    noteTrunkEvent(redis, 'main', { type, status: type === 'up' ? 200 : 0, reason: 'x', atMs })
  t.equal(await tell('up', 1), false, 'that it answers is no news')
  t.same(await Promise.all([tell('down', 2), tell('down', 3)]), [true, false])
  t.equal(await tell('up', 4), true)
  t.equal(await tell('up', 5), false)
  t.match(await trunkEvents(redis, 'main'), [
    { type: 'up', status: 200, atMs: 4 },
    { type: 'down', status: 0, atMs: 2 },
  ])
  for (let i = 0; i < 60; i++) await tell(i % 2 === 0 ? 'down' : 'up', 10 + i)
  t.equal((await trunkEvents(redis, 'main')).length, 50)
  t.same(await trunkEvents(redis, 'other'), [])
})

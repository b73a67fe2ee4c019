import fc from 'fast-check'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import {
  forgetWorker,
  listWorkers,
  registerWorker,
  releaseSlot,
  renewSlots,
  takeSlot,
  workerOf,
} from '../../../runtime/session/slots.ts'
import { createRedis, type RedisClient } from '../../../store/redis/client.ts'
import { testRedis } from '../../support/services.ts'

const LEASE_MS = 60_000
const log = pino({ level: 'silent' })

async function connect(t: Test, url: string): Promise<RedisClient> {
  const redis = await createRedis(url, log)
  t.teardown(() => redis.destroy())
  return redis
}
const register = (redis: RedisClient, workerId: string, capacity: number, active = 0, entryMs = LEASE_MS) =>
  registerWorker(redis, { workerId, capacity, metricsUrl: 'http://127.0.0.1:1/metrics' }, active, entryMs)

t.test('slots', async (t) => {
  const redis = await connect(t, await testRedis(t))
  t.beforeEach(() => redis.flushAll())

  t.test('a slot is taken by one of many takers, and all slots find a taker', async (t) => {
    const nodes = await Promise.all([0, 1, 2].map(() => redis.duplicate().connect()))
    t.teardown(() => {
      for (const node of nodes) node.destroy()
    })
    await register(redis, 'a', 7)
    await register(redis, 'b', 5)
    const takes = await Promise.all(
      Array.from({ length: 30 }, (_, i) => takeSlot(nodes[i % 3]! as RedisClient, `h${i}`, ['a', 'b'], LEASE_MS)),
    )
    const taken = takes.filter((slot) => slot !== undefined)
    t.equal(taken.length, 12)
    t.equal(new Set(taken).size, 12)
  })

  t.test(
    'whatever takes, releases, dies and comes back: one holder a slot, never more than the worker has',
    async () => {
      type Command = { kind: 'take' | 'release' | 'lost' | 'renew' | 'register' | 'forget' | 'flush'; n: number }
      const command: fc.Arbitrary<Command> = fc.record({
        kind: fc.constantFrom('take', 'take', 'take', 'release', 'lost', 'renew', 'register', 'forget', 'flush'),
        n: fc.nat({ max: 20 }),
      })
      const capacity: Record<string, number> = { a: 2, b: 3 }
      await fc.assert(
        fc.asyncProperty(fc.array(command, { maxLength: 40 }), async (commands) => {
          await redis.flushAll()
          const held = new Map<string, string>()
          let next = 0
          const renewAll = async () => {
            const all = [...held].map(([slot, holder]) => ({ slot, holder }))
            const lost = all.length === 0 ? [] : await renewSlots(redis, all, LEASE_MS)
            if (lost.length > 0) throw new Error(`lost ${lost} while it was held`)
          }
          const registerAll = async () => {
            for (const id of ['a', 'b']) {
              const active = [...held.keys()].filter((slot) => workerOf(slot) === id).length
              await register(redis, id, capacity[id]!, active)
            }
          }
          await registerAll()
          for (const { kind, n } of commands) {
            const slots = [...held.keys()]
            const slot = slots[n % Math.max(slots.length, 1)]
            if (kind === 'take') {
              const holder = `h${next++}`
              const got = await takeSlot(redis, holder, ['a', 'b'], LEASE_MS)
              if (got === undefined) continue
              if (held.has(got)) throw new Error(`${got} was taken twice`)
              held.set(got, holder)
            } else if ((kind === 'release' || kind === 'lost') && slot !== undefined) {
              await releaseSlot(redis, { slot, holder: held.get(slot)! }, kind === 'lost' ? 'lost' : 0)
              held.delete(slot)
            } else if (kind === 'renew') await renewAll()
            else if (kind === 'register') await registerAll()
            else if (kind === 'forget') await forgetWorker(redis, n % 2 === 0 ? 'a' : 'b')
            else if (kind === 'flush') {
              // Redis lost its memory; nodes renew and workers are registered in any order.
              await redis.flushAll()
              if (n % 2 === 0) await registerAll()
              await renewAll()
              await registerAll()
            }
          }
          await registerAll()
          for (;;) {
            const got = await takeSlot(redis, `h${next++}`, ['a', 'b'], LEASE_MS)
            if (got === undefined) break
            if (held.has(got)) throw new Error(`${got} was taken twice`)
            held.set(got, '')
          }
          const want = ['a/0', 'a/1', 'b/0', 'b/1', 'b/2']
          if ([...held.keys()].sort().join() !== want.join()) throw new Error(`slots ${[...held.keys()].sort()}`)
        }),
        { numRuns: 60 },
      )
    },
  )

  t.test('the slot that rested longest is taken first', async (t) => {
    await fc.assert(
      fc.asyncProperty(fc.shuffledSubarray(['a/0', 'a/1', 'a/2', 'b/0', 'b/1'], { minLength: 5 }), async (order) => {
        await redis.flushAll()
        await register(redis, 'a', 3)
        await register(redis, 'b', 2)
        for (let i = 0; i < 5; i++) await takeSlot(redis, 'x', ['a', 'b'], LEASE_MS)
        for (const slot of order) {
          await releaseSlot(redis, { slot, holder: 'x' }, 0)
          await new Promise((resolve) => setTimeout(resolve, 2))
        }
        const again: (string | undefined)[] = []
        for (let i = 0; i < 5; i++) again.push(await takeSlot(redis, 'y', ['a', 'b'], LEASE_MS))
        if (again.join() !== order.join()) throw new Error(`released ${order}, taken ${again}`)
      }),
      { numRuns: 15 },
    )
    t.pass()
  })

  t.test('a released slot is not taken before its wrap-up is over', async (t) => {
    await register(redis, 'a', 1)
    t.equal(await takeSlot(redis, 'x', ['a'], LEASE_MS), 'a/0')
    await releaseSlot(redis, { slot: 'a/0', holder: 'x' }, 150)
    t.equal(await takeSlot(redis, 'y', ['a'], LEASE_MS), undefined)
    await new Promise((resolve) => setTimeout(resolve, 200))
    t.equal(await takeSlot(redis, 'y', ['a'], LEASE_MS), 'a/0')
  })

  t.test('a slot whose holder renews no more is taken by another, and the old holder cannot release it', async (t) => {
    await register(redis, 'a', 1)
    await takeSlot(redis, 'dead', ['a'], 50)
    t.equal(await takeSlot(redis, 'y', ['a'], LEASE_MS), undefined)
    await new Promise((resolve) => setTimeout(resolve, 80))
    t.equal(await takeSlot(redis, 'y', ['a'], LEASE_MS), 'a/0')
    t.equal(await releaseSlot(redis, { slot: 'a/0', holder: 'dead' }, 0), false)
    t.same(await renewSlots(redis, [{ slot: 'a/0', holder: 'dead' }], LEASE_MS), ['a/0'])
    t.equal(await takeSlot(redis, 'z', ['a'], LEASE_MS), undefined)
  })

  t.test('only the workers asked for are taken, however many others rested longer', async (t) => {
    await register(redis, 'others', 250)
    await register(redis, 'mine', 1)
    t.equal(await takeSlot(redis, 'x', ['mine'], LEASE_MS), 'mine/0')
    t.equal(await takeSlot(redis, 'x', ['mine'], LEASE_MS), undefined)
  })

  t.test('a worker of smaller capacity loses its ready slots beyond it', async (t) => {
    await register(redis, 'a', 5)
    await register(redis, 'a', 2)
    const slots = [1, 2, 3].map(() => takeSlot(redis, 'x', ['a'], LEASE_MS))
    t.same((await Promise.all(slots)).sort(), ['a/0', 'a/1', undefined])
  })

  t.test('after a loss of memory a worker offers only the slots it has free', async (t) => {
    await register(redis, 'a', 3, 2)
    const slots = [1, 2].map(() => takeSlot(redis, 'x', ['a'], LEASE_MS))
    t.equal((await Promise.all(slots)).filter((slot) => slot !== undefined).length, 1)
  })

  t.test('live workers are listed until they are silent or stop', async (t) => {
    await register(redis, 'a', 3)
    await register(redis, 'b', 1, 0, 50)
    await register(redis, 'c', 1)
    t.same((await listWorkers(redis)).map(({ workerId }) => workerId).sort(), ['a', 'b', 'c'])
    await forgetWorker(redis, 'c')
    await new Promise((resolve) => setTimeout(resolve, 80))
    t.same(await listWorkers(redis), [{ workerId: 'a', capacity: 3, metricsUrl: 'http://127.0.0.1:1/metrics' }])
    await register(redis, 'a', 3)
    t.equal(await takeSlot(redis, 'x', ['b', 'c'], LEASE_MS), undefined, 'and so are their slots')
  })
})

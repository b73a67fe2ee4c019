import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import type { SeatKind, SlotStrategy } from '../../../../runtime/admission/slot-claim.ts'
import { type TakenSlot, workerOf } from '../../../../runtime/call/control/slots.ts'
import { createRedis, type RedisClient } from '../../../../store/redis/client.ts'
import {
  countSlots,
  listWorkers,
  RedisSlots,
  type SlotShares,
  slotsByWorkspace,
} from '../../../../store/redis/slots.ts'
import { testRedis } from '../../../support/instance/services.ts'

const LEASE_MS = 60_000
/** Runs out in the test's time. */
const SHORT_MS = 500
/** Redis counts whole milliseconds. */
const EARLY_MS = 2
const log = pino({ level: 'silent' })

async function connect(t: Test, url: string): Promise<RedisClient> {
  const redis = await createRedis(url, log)
  t.teardown(() => redis.destroy())
  return redis
}
const NO_SHARES: SlotShares = { inboundReserve: 0, workspaceShare: 1 }
const nodeOf = (redis: RedisClient, shares = NO_SHARES, leaseMs = LEASE_MS, entryMs = LEASE_MS) =>
  new RedisSlots(redis, { shares: () => shares, leaseMs, entryMs })
const register = (redis: RedisClient, workerId: string, capacity: number, active = 0, entryMs = LEASE_MS) =>
  nodeOf(redis, NO_SHARES, LEASE_MS, entryMs).register(
    { workerId, capacity, metricsUrl: 'http://127.0.0.1:1/metrics' },
    active,
  )
/** Each connection is a node. */
const nodes = new WeakMap<RedisClient, RedisSlots>()
const take = (redis: RedisClient, workers: string[], leaseMs = LEASE_MS) => {
  const node = nodes.get(redis) ?? nodeOf(redis)
  nodes.set(redis, node)
  return (leaseMs === LEASE_MS ? node : nodeOf(redis, NO_SHARES, leaseMs)).take(
    [{ workspaceId: 'w', kind: 'inbound' }],
    workers,
  )
}
/** Takes the slot that is ready some time. */
async function takeLater(redis: RedisClient, workers: string[]): Promise<TakenSlot> {
  for (;;) {
    const taken = await take(redis, workers)
    if (taken !== undefined) return taken
    await sleep(20)
  }
}
const slotOf = async (taken: Promise<TakenSlot | undefined>) => (await taken)?.slot

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
      Array.from({ length: 30 }, (_, i) => slotOf(take(nodes[i % 3]! as RedisClient, ['a', 'b']))),
    )
    const taken = takes.filter((slot) => slot !== undefined)
    t.equal(taken.length, 12)
    t.equal(new Set(taken).size, 12)
  })

  t.test('a workspace holds no slot whose lease ran out, taken again or not', async (t) => {
    await register(redis, 'a', 2)
    await take(redis, ['a'])
    t.same([...(await slotsByWorkspace(redis))], [['w', 1]])
    t.ok(await take(redis, ['a'], 1))
    while ((await slotsByWorkspace(redis)).get('w') !== 1) await sleep(5)
    t.same([...(await slotsByWorkspace(redis))], [['w', 1]])
  })

  t.test('whose turn it is takes the slot its strategy says', async (t) => {
    await register(redis, 'a', 3)
    const node = nodeOf(redis)
    /** Of each slot when it was asked for and when it was had, and the least and the most that it has talked. */
    const times = new Map<string, { askedMs: number; hadMs: number; leastMs: number; mostMs: number }>()
    const takeBy = async (strategy: SlotStrategy) => {
      const askedMs = performance.now()
      const taken = await node.take([{ workspaceId: 'w', kind: 'inbound', strategy }], ['a'])
      if (taken === undefined) throw new Error('No slot was ready')
      const { leastMs = 0, mostMs = 0 } = times.get(taken.slot) ?? {}
      times.set(taken.slot, { askedMs, hadMs: performance.now(), leastMs, mostMs })
      return taken
    }
    // A moment apart, so that one is idle longer than the next.
    const release = async (...taken: TakenSlot[]) => {
      for (const one of taken) {
        const time = times.get(one.slot)!
        time.leastMs += performance.now() - time.hadMs - EARLY_MS
        await node.release(one, 0)
        time.mostMs += performance.now() - time.askedMs + EARLY_MS
        await sleep(5)
      }
    }
    const takeThree = async () => {
      const three = [await takeBy('round-robin'), await takeBy('round-robin'), await takeBy('round-robin')]
      three.sort((x, y) => (x.slot < y.slot ? -1 : 1))
      return three as [TakenSlot, TakenSlot, TakenSlot]
    }
    const slots = ['a/0', 'a/1', 'a/2']

    const [first, second, third] = await takeThree()
    t.same([first.slot, second.slot, third.slot], slots)
    await release(second, first, third)
    const longest = await takeBy('longest-idle-agent')
    t.equal(longest.slot, 'a/1')
    const turn = await takeBy('round-robin')
    t.equal(turn.slot, 'a/2', 'the one after it')
    await release(turn, longest)
    // Taken once: a/0; twice: the others. Given back last it is not the one idle longest.
    const all = await takeThree()
    await release(all[2], all[1], all[0])
    const fewest = await takeBy('agent-with-fewest-calls')
    t.equal(fewest.slot, 'a/0')
    await release(fewest)

    // However long a busy machine held the others: in the end it has talked longer than each of them.
    const most = (slot: string) => times.get(slot)?.mostMs ?? Number.POSITIVE_INFINITY
    do {
      const talking = await takeThree()
      await release(talking[0], talking[1])
      await sleep(150)
      await release(talking[2])
      const again = await takeThree()
      await release(again[2], again[0], again[1])
    } while (times.get('a/2')!.leastMs <= Math.max(most('a/0'), most('a/1')))
    t.not((await takeBy('agent-with-least-talk-time')).slot, 'a/2', 'which has been idle longest and talked most')

    await redis.flushAll()
    await register(redis, 'a', 3)
    const drawn: string[] = []
    for (let i = 0; i < 60; i++) {
      const one = await takeBy('random')
      drawn.push(one.slot)
      await node.release(one, 0)
    }
    t.same([...new Set(drawn)].sort(), slots, 'each is drawn')
    t.ok(
      drawn.some((slot, i) => slot === drawn[i - 1]),
      'in no order',
    )
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
          const renewAll = async () => {
            const all = [...held].map(([slot, holder]) => ({ slot, holder }))
            const lost = all.length === 0 ? [] : await nodeOf(redis).renew(all)
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
              const got = await take(redis, ['a', 'b'])
              if (got === undefined) continue
              if (held.has(got.slot)) throw new Error(`${got.slot} was taken twice`)
              held.set(got.slot, got.holder)
            } else if ((kind === 'release' || kind === 'lost') && slot !== undefined) {
              await nodeOf(redis).release({ slot, holder: held.get(slot)! }, kind === 'lost' ? 'lost' : 0)
              held.delete(slot)
            } else if (kind === 'renew') await renewAll()
            else if (kind === 'register') await registerAll()
            else if (kind === 'forget') await nodeOf(redis).forget(n % 2 === 0 ? 'a' : 'b')
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
            const got = await slotOf(take(redis, ['a', 'b']))
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

  t.test(
    'sessions spread over fresh, restarted and added workers: none is more than one above its share',
    async (t) => {
      const workers = ['a', 'b', 'restarted']
      for (const worker of workers) await register(redis, worker, 10)
      const taken: TakenSlot[] = []
      for (let i = 0; i < 9; i++) taken.push((await take(redis, workers))!)
      const countOf = (worker: string) => taken.filter(({ slot }) => workerOf(slot) === worker).length
      for (const worker of workers) t.equal(countOf(worker), 3, worker)

      const lost = taken.filter(({ slot }) => workerOf(slot) === 'restarted')
      for (const slot of lost) await nodeOf(redis).release(slot, 'lost')
      await nodeOf(redis).forget('restarted')
      taken.splice(0, taken.length, ...taken.filter((slot) => !lost.includes(slot)))
      workers.splice(2, 1, 'again', 'added')
      await register(redis, 'again', 10)
      await register(redis, 'added', 20)
      while (taken.length < 20) taken.push((await take(redis, workers))!)
      const shares = { a: 4, b: 4, again: 4, added: 8 }
      for (const [worker, share] of Object.entries(shares))
        t.ok(Math.abs(countOf(worker) - share) <= 1, `${worker}: ${countOf(worker)}`)
    },
  )

  t.test('of the workers with the least load the slot that rested longest is taken first', async (t) => {
    const taken = fc.assert(
      fc.asyncProperty(fc.shuffledSubarray(['a/0', 'a/1', 'a/2', 'b/0', 'b/1'], { minLength: 5 }), async (order) => {
        await redis.flushAll()
        await register(redis, 'a', 3)
        await register(redis, 'b', 2)
        const held = new Map<string, TakenSlot>()
        for (let i = 0; i < 5; i++) {
          const taken = await take(redis, ['a', 'b'])
          held.set(taken!.slot, taken!)
        }
        for (const slot of order) {
          await nodeOf(redis).release(held.get(slot)!, 0)
          await new Promise((resolve) => setTimeout(resolve, 2))
        }
        const again: (string | undefined)[] = []
        for (let i = 0; i < 5; i++) again.push(await slotOf(take(redis, ['a', 'b'])))
        const left = [...order]
        const want = again.map(() => {
          const load = (worker: string) =>
            1 - left.filter((slot) => workerOf(slot) === worker).length / (worker === 'a' ? 3 : 2)
          const least = Math.min(...left.map((slot) => load(workerOf(slot))))
          return left.splice(
            left.findIndex((slot) => load(workerOf(slot)) === least),
            1,
          )[0]
        })
        if (again.join() !== want.join()) throw new Error(`released ${order}, taken ${again}, not ${want}`)
      }),
      { numRuns: 15 },
    )
    await t.resolves(taken)
  })

  t.test('a released slot is not taken before its wrap-up is over', async (t) => {
    await register(redis, 'a', 1)
    const first = await take(redis, ['a'])
    t.equal(first?.slot, 'a/0')
    await nodeOf(redis).release(first!, LEASE_MS)
    t.equal(await slotOf(take(redis, ['a'])), undefined)

    await redis.flushAll()
    await register(redis, 'a', 1)
    const second = await take(redis, ['a'])
    const releasedMs = performance.now()
    await nodeOf(redis).release(second!, SHORT_MS)
    t.equal((await takeLater(redis, ['a'])).slot, 'a/0')
    t.ok(performance.now() - releasedMs >= SHORT_MS - EARLY_MS)
  })

  t.test('a slot whose holder renews no more is taken by another, and the old holder cannot release it', async (t) => {
    await register(redis, 'a', 1)
    await take(redis, ['a'])
    t.equal(await slotOf(take(redis, ['a'])), undefined)

    await redis.flushAll()
    await register(redis, 'a', 1)
    const takenMs = performance.now()
    const dead = await take(redis, ['a'], SHORT_MS)
    t.equal((await takeLater(redis, ['a'])).slot, 'a/0')
    t.ok(performance.now() - takenMs >= SHORT_MS - EARLY_MS)
    t.equal(await nodeOf(redis).release(dead!, 0), false)
    t.same(await nodeOf(redis).renew([dead!]), ['a/0'])
    t.equal(await slotOf(take(redis, ['a'])), undefined)
  })

  t.test(
    "a slot whose lease ran out is ready again with its worker's next beat, though nobody asks for one",
    async (t) => {
      await register(redis, 'a', 3)
      await take(redis, ['a'])
      const dead = await take(redis, ['a'], 1)
      await sleep(20)
      await register(redis, 'a', 3, 1)
      t.same(await countSlots(redis), { ready: 2, capacity: 3 })
      t.equal(await nodeOf(redis).release(dead!, 0), false, "and no longer its old holder's")
      await take(redis, ['a'], 1)
      await sleep(20)
      await register(redis, 'a', 3, 2)
      t.same(await countSlots(redis), { ready: 1, capacity: 3 }, 'unless the worker still has that session')
    },
  )

  t.test('only the workers asked for are taken, however many others rested longer', async (t) => {
    await register(redis, 'others', 250)
    await register(redis, 'mine', 1)
    t.equal(await slotOf(take(redis, ['mine'])), 'mine/0')
    t.equal(await slotOf(take(redis, ['mine'])), undefined)
  })

  t.test('a worker of smaller capacity loses its ready slots beyond it', async (t) => {
    await register(redis, 'a', 5)
    await register(redis, 'a', 2)
    const slots = [1, 2, 3].map(() => slotOf(take(redis, ['a'])))
    t.same((await Promise.all(slots)).sort(), ['a/0', 'a/1', undefined])
  })

  t.test('after a loss of memory a worker offers only the slots it has free', async (t) => {
    await register(redis, 'a', 3, 2)
    const slots = [1, 2].map(() => slotOf(take(redis, ['a'])))
    t.equal((await Promise.all(slots)).filter((slot) => slot !== undefined).length, 1)
  })

  t.test('live workers are listed until they are silent or stop', async (t) => {
    await register(redis, 'a', 3)
    await register(redis, 'b', 1)
    await register(redis, 'c', 1)
    t.same((await listWorkers(redis)).map(({ workerId }) => workerId).sort(), ['a', 'b', 'c'])
    await nodeOf(redis).forget('c')
    // Its last beat.
    await register(redis, 'b', 1, 0, SHORT_MS)
    while ((await listWorkers(redis)).length > 1) await sleep(20)
    t.same(await listWorkers(redis), [{ workerId: 'a', capacity: 3, metricsUrl: 'http://127.0.0.1:1/metrics' }])
    await register(redis, 'a', 3)
    t.equal(await slotOf(take(redis, ['b', 'c'])), undefined, 'and so are their slots')
  })

  t.test('calls we make leave the reserve free, and the last slot of a single one is theirs', async (t) => {
    const node = nodeOf(redis, { inboundReserve: 0.3, workspaceShare: 1 })
    const takeFor = (kind: SeatKind) => node.take([{ workspaceId: 'w', kind }], ['a'])
    await register(redis, 'a', 4)
    t.ok(await takeFor('outbound'))
    t.ok(await takeFor('outbound'))
    t.notOk(await takeFor('outbound'), 'two of four are reserved')
    t.ok(await takeFor('web'))
    t.ok(await takeFor('inbound'))
    t.same(await countSlots(redis), { ready: 0, capacity: 4 })
    await redis.flushAll()
    await register(redis, 'a', 1)
    t.ok(await takeFor('outbound'))
  })

  t.test('one workspace leaves something to the others, but to a call that lost its worker', async (t) => {
    const node = nodeOf(redis, { inboundReserve: 0, workspaceShare: 0.9 })
    const takeFor = (workspaceId: string, kind: SeatKind = 'web') => node.take([{ workspaceId, kind }], ['a'])
    await register(redis, 'a', 10)
    for (let i = 0; i < 9; i++) t.ok(await takeFor('greedy'))
    t.notOk(await takeFor('greedy'))
    t.ok(await takeFor('quiet'))
    await register(redis, 'b', 10)
    for (let i = 0; i < 9; i++) await node.take([{ workspaceId: 'greedy', kind: 'web' }], ['b'])
    t.notOk(await node.take([{ workspaceId: 'greedy', kind: 'web' }], ['b']))
    t.ok(await node.take([{ workspaceId: 'greedy', kind: 'recovering' }], ['b']))
  })

  t.test('who calls us goes before those we call, and a call that lost its worker before all', async (t) => {
    const node = nodeOf(redis)
    await register(redis, 'a', 3)
    const claims = (['outbound', 'web', 'recovering'] as const).map((kind) => ({ workspaceId: kind, kind }))
    const order = []
    for (let waiting = claims; waiting.length > 0; ) {
      const taken = await node.take(waiting, ['a'])
      order.push(taken?.claim.kind)
      waiting = waiting.filter((claim) => claim !== taken?.claim)
      await nodeOf(redis, NO_SHARES).renew([taken!])
    }
    t.same(order, ['recovering', 'web', 'outbound'])
  })

  t.test('a workspace that comes new to a node gets the next slot, however many turns another waits for', async (t) => {
    const [one, two] = [nodeOf(redis), nodeOf(redis)]
    await register(redis, 'a', 1)
    const busy = { workspaceId: 'busy', kind: 'outbound' } as const
    for (let i = 0; i < 5; i++) {
      const taken = await one.take([busy], ['a'])
      await one.release(taken!, 0)
    }
    const held = await one.take([busy], ['a'])
    t.notOk(await one.take([busy], ['a']))
    // Together, since who asks no more is soon forgotten.
    const [early, , again] = await Promise.all([
      two.take([{ workspaceId: 'new', kind: 'outbound' }], ['a']),
      one.release(held!, 0),
      one.take([busy], ['a']),
    ])
    t.notOk(early)
    t.notOk(again, 'it is for the claim of the other node')
    t.ok(await two.take([{ workspaceId: 'new', kind: 'outbound' }], ['a']))
  })

  t.test('a node that asks no more holds up nobody for long', async (t) => {
    const [dead, alive] = [nodeOf(redis), nodeOf(redis)]
    await dead.take([{ workspaceId: 'a-first', kind: 'inbound' }], ['a'])
    await register(redis, 'a', 1)
    const claim = { workspaceId: 'b-second', kind: 'outbound' } as const
    const [, early] = await Promise.all([
      dead.take([{ workspaceId: 'a-first', kind: 'inbound' }], ['gone']),
      alive.take([claim], ['a']),
    ])
    t.notOk(early)
    await new Promise((resolve) => setTimeout(resolve, 1_100))
    t.ok(await alive.take([claim], ['a']))
  })
})

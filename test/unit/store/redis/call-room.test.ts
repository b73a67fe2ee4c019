import { pino } from 'pino'
import t from 'tap'
import { uuidv7 } from 'uuidv7'
import { redisCallRoom } from '../../../../store/redis/call-room.ts'
import { createRedis } from '../../../../store/redis/client.ts'
import { RedisSlots } from '../../../../store/redis/slots.ts'
import { storedQuotas } from '../../../../store/workspaces/quotas.ts'
import { testRedis } from '../../../support/instance/services.ts'
import { seeded } from '../../../support/phone/numbers.ts'
import { campaignWorld } from '../../../support/world/campaign-world.ts'

const log = pino({ level: 'silent' })
const shares = () => ({ inboundReserve: 0, workspaceShare: 1 })
/** No worker beats here: what is known of one holds for the whole test. */
const ENTRY_MS = 900_000
const WORKER = { workerId: 'w', capacity: 10, metricsUrl: '' }

t.test('calls that ring without a seat keep their part of the seats until somebody picks up', async (t) => {
  const world = await campaignWorld(t)
  const redis = await createRedis(await testRedis(t), log)
  t.teardown(() => redis.destroy())
  const slots = new RedisSlots(redis, { shares, entryMs: ENTRY_MS })
  await slots.register(WORKER, 0)
  const quotas = storedQuotas(world.store, { webSessionsPerWorkspace: null })
  const room = redisCallRoom({ store: world.store, redis, quotas, shares })
  const { workspaceId } = world.tenant
  const other = uuidv7()
  const row = { id: other, name: 'other', type: 'test', slug: other, deleted_at: null } as const
  await world.store.global.insertInto('workspaces').values(row).execute()
  const offered = async (to = workspaceId) => {
    const unit = 'campaign:a'
    let most: [number, number] = [0, 0]
    await room.claim({ workspaceId: to, unit, wanted: 50 }, async (...offer) => {
      most = offer
      return 0
    })
    await room.leave(unit)
    return most
  }
  const call = async (fields: Record<string, unknown>) => {
    const id = uuidv7()
    const row = { agent_id: world.agentId, agent_name: 'Ada', call_type: 'phone', direction: 'outbound', ...fields }
    await world.tenant.db
      .insertInto('calls')
      .values({ id, dynamic_variables: '{}', ...row } as never)
      .execute()
    return id
  }
  const set = (id: string, fields: Record<string, unknown>) =>
    world.tenant.db.updateTable('calls').set(fields).where('id', '=', id).execute()
  t.same(await offered(), [10, Number.POSITIVE_INFINITY])
  const calls: string[] = []
  for (let i = 0; i < 9; i++) calls.push(await call({ status: 'queued', seat_share: 1 / 3 }))
  t.equal((await offered())[0], 7, 'nine calls on three seats wait to be dialled')
  for (const id of calls) await set(id, { status: 'ringing', placed_at: new Date() })
  t.equal((await offered())[0], 7, 'they ring')
  t.equal((await offered(other))[0], 7, 'for everybody')
  for (const id of calls.slice(0, 6)) await set(id, { status: 'no_answer', ended_at: new Date() })
  t.equal((await offered())[0], 9, 'six of them rang in vain')
  const taken = await slots.take([{ workspaceId, kind: 'picked_up' }], ['w'])
  t.ok(taken)
  await set(calls[6]!, { status: 'in_progress' })
  t.equal((await offered())[0], 8, 'one talks')
  await call({ status: 'queued', seat_share: null })
  t.equal((await offered())[0], 7, 'a call that will have a seat of its own')
  await world.store.pool.query('update workspaces set max_concurrent_calls = 6 where id = $1', [workspaceId])
  t.same(await offered(), [2, 2], 'calls that ring count among those the workspace may have, whatever their seats')
})

t.test(
  'who picked up goes before those who are yet to be called, and leaves the reserve free as they do',
  async (t) => {
    const redis = await createRedis(await testRedis(t), log)
    t.teardown(() => redis.destroy())
    const slots = new RedisSlots(redis, {
      shares: () => ({ inboundReserve: 0.5, workspaceShare: 1 }),
      entryMs: ENTRY_MS,
    })
    await slots.register({ ...WORKER, capacity: 4 }, 0)
    const both = [
      { workspaceId: 'a', kind: 'outbound' },
      { workspaceId: 'b', kind: 'picked_up' },
    ] as const
    t.match(await slots.take(both, ['w']), { claim: { kind: 'picked_up' } })
    t.match(await slots.take([{ workspaceId: 'a', kind: 'outbound' }], ['w']), { claim: { kind: 'outbound' } })
    t.notOk(await slots.take([{ workspaceId: 'b', kind: 'picked_up' }], ['w']), 'two are for those who call')
    t.ok(await slots.take([{ workspaceId: 'b', kind: 'inbound' }], ['w']))
  },
)

t.test('room is shared by workspace, however many units each has and however often they ask', async (t) => {
  const world = await campaignWorld(t)
  const redis = await createRedis(await testRedis(t), log)
  t.teardown(() => redis.destroy())
  await new RedisSlots(redis, { shares, entryMs: ENTRY_MS }).register(WORKER, 0)
  const quotas = storedQuotas(world.store, { webSessionsPerWorkspace: null })
  const room = redisCallRoom({ store: world.store, redis, quotas, shares })
  const workspaces = [world.tenant.workspaceId, uuidv7(), uuidv7()]
  for (const id of workspaces.slice(1)) {
    const row = { id, name: 'w', type: 'test', slug: id, deleted_at: null } as const
    await world.store.global.insertInto('workspaces').values(row).execute()
  }
  const units = workspaces.flatMap((workspaceId, i) =>
    Array.from({ length: [1, 2, 6][i] ?? 1 }, (_, n) => ({ workspaceId, unit: `campaign:${i}-${n}` })),
  )
  const random = seeded(3)
  const given = new Map<string, number>()
  const ask = (one: (typeof units)[number], most: number) =>
    room.claim({ ...one, wanted: 50, againMs: ENTRY_MS }, async (share) => {
      const taken = Math.min(share, most)
      given.set(one.workspaceId, (given.get(one.workspaceId) ?? 0) + taken)
      return taken
    })
  for (const one of units) await ask(one, 10)
  given.clear()
  for (let n = 0; n < 200; n++) await ask(units[Math.floor(random() * units.length)]!, 10)
  const sums = workspaces.map((one) => given.get(one) ?? 0)
  const fair = sums.reduce((all, one) => all + one, 0) / sums.length
  t.ok(fair > 50, sums.join())
  for (const one of sums) t.ok(Math.abs(one - fair) <= 10, `${one} of ${fair}, with room for ten at a time`)

  await t.test('who is offered room and calls nobody holds up nobody', async (t) => {
    await redis.flushDb()
    await new RedisSlots(redis, { shares, entryMs: ENTRY_MS }).register({ ...WORKER, capacity: 1 }, 0)
    const [idle, busy] = [units[0]!, units[1]!]
    let calls = 0
    for (let n = 0; n < 20; n++) {
      await ask(idle, 0)
      calls += await ask(busy, 1)
    }
    t.equal(calls, 20)
  })

  await t.test('who finds all slots taken does not wait for another that claims', async (t) => {
    await redis.flushDb()
    const all = new RedisSlots(redis, { shares, entryMs: ENTRY_MS })
    await all.register({ ...WORKER, capacity: 1 }, 0)
    const claiming = Promise.withResolvers<void>()
    const over = Promise.withResolvers<void>()
    const first = room.claim({ ...units[0]!, wanted: 1 }, async () => {
      await all.take([{ workspaceId: workspaces[0]!, kind: 'outbound' }], ['w'])
      claiming.resolve()
      await over.promise
      return 1
    })
    await claiming.promise
    t.equal(await ask(units[1]!, 1), 0, 'while the first is not done')
    over.resolve()
    t.equal(await first, 1)
  })
})

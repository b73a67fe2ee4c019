import t from 'tap'
import { createLogger } from '../../../../runtime/process/log.ts'
import { redisCallRoom } from '../../../../store/redis/call-room.ts'
import { createRedis } from '../../../../store/redis/client.ts'
import { RedisSlots } from '../../../../store/redis/slots.ts'
import { storedQuotas } from '../../../../store/workspaces/quotas.ts'
import { workerPoolOf } from '../../../../store/workspaces/worker-pools.ts'
import { startTestApi, type TestUser } from '../../../support/instance/api.ts'
import { callWhen, isOver, linkWorker, startPhone } from '../../../support/phone/phone.ts'
import { scriptedConversation } from '../../../support/phone/scripted-conversation.ts'

/** Of the simulated carrier: talks. */
const CALLEE = '+14155552000'

t.test('the workers of a pool serve those that the operator gave it, and nobody else', async (t) => {
  const api = await startTestApi(t, { env: { PATCHBAY_QUEUE_WAIT_MS: '1000' } })
  const [boss, eve] = [await api.signUp(), await api.signUp('Eve')]
  const served: string[] = []
  const link = (pool?: string) =>
    linkWorker(t, api, {
      ...(pool !== undefined && { pool }),
      openConversation: (open, port) => {
        served.push(pool ?? '')
        return scriptedConversation(open, port)
      },
    })
  await link()
  const phones = new Map([
    [boss, await startPhone(api, boss)],
    [eve, await startPhone(api, eve)],
  ])
  const call = async (user: TestUser) => {
    const body = { agent_phone_number: phones.get(user)?.number, phone_number_to_dial: CALLEE }
    const { call_log_id: id } = (await user.client.post('/calls/outbound_call', { body })).body
    const isAsFar = (one: { status: string }) => one.status === 'in_progress' || isOver(one)
    const found = await callWhen(user, id, isAsFar)
    await user.client.post(`/calls/${id}/hangup`)
    await callWhen(user, id, isOver)
    return { status: found.status, reason: found.end_reason, pool: served.splice(0).join() }
  }
  const rule = { kind: 'workspace', key: eve.workspaceId, pool: 'acme' }
  t.equal((await eve.client.put('/operator/worker-pools', { body: rule })).status, 403)
  t.same((await boss.client.put('/operator/worker-pools', { body: rule })).body, rule)
  t.match(await call(eve), { status: 'failed', reason: 'no_capacity', pool: '' }, 'nobody of the pool is there')
  t.match(await call(boss), { status: 'in_progress', pool: '' })

  await link('acme')
  t.match(await call(eve), { status: 'in_progress', pool: 'acme' })
  t.match(await call(boss), { status: 'in_progress', pool: '' }, 'and its workers serve no other')
  t.match((await boss.client.get('/operator/worker-pools')).body, {
    rules: [rule],
    pools: [
      { pool: '', workers: 1, seats: 10 },
      { pool: 'acme', workers: 1, seats: 10 },
    ],
  })
  t.equal((await boss.client.delete(`/operator/worker-pools/workspace/${eve.workspaceId}`)).status, 200)
  t.equal((await boss.client.delete(`/operator/worker-pools/workspace/${eve.workspaceId}`)).status, 404)
  t.match(await call(eve), { status: 'in_progress', pool: '' })

  for (const [kind, key] of [
    ['workspace', 'acme'],
    ['region', '49'],
  ]) {
    const refused = await boss.client.put('/operator/worker-pools', { body: { kind, key, pool: 'eu' } })
    t.equal(refused.status, 422, `${kind} ${key}`)
  }
})

t.test('an agent goes before its workspace, both before the longest beginning of the number', async (t) => {
  const api = await startTestApi(t)
  const user = await api.signUp()
  const { agentId } = await startPhone(api, user)
  const { workspaceId } = user
  const set = (kind: string, key: string, pool: string) =>
    user.client.put('/operator/worker-pools', { body: { kind, key, pool } })
  const pool = (number?: string) => workerPoolOf(api.store, { agentId, workspaceId, number })
  t.equal(await pool('+4930123456'), '')
  await set('region', '+49', 'eu')
  await set('region', '+4930', 'berlin')
  t.same(
    [await pool('+4930123456'), await pool('+4940123456'), await pool('+14155550100'), await pool()],
    ['berlin', 'eu', '', ''],
  )
  await set('workspace', workspaceId, 'acme')
  t.equal(await pool('+4930123456'), 'acme')
  await set('agent', agentId, 'gpu')
  t.equal(await pool('+4930123456'), 'gpu')
})

t.test('rows become calls by the seats of their own pool', async (t) => {
  const api = await startTestApi(t)
  const user = await api.signUp()
  const redis = await createRedis(api.redisUrl, createLogger({ level: 'silent', name: 'test' }))
  t.teardown(() => redis.destroy())
  const shares = () => ({ inboundReserve: 0, workspaceShare: 1 })
  const slots = new RedisSlots(redis, { shares })
  await slots.register({ workerId: 'a', capacity: 3, metricsUrl: '' }, 0)
  await slots.register({ workerId: 'b', capacity: 5, metricsUrl: '', pool: 'eu' }, 0)
  const quotas = storedQuotas(api.store, { webSessionsPerWorkspace: null })
  const room = redisCallRoom({ store: api.store, redis, quotas, shares })
  const roomOf = async (pool?: string) => {
    const demand = { workspaceId: user.workspaceId, unit: `batch:${pool}`, wanted: 100, ...(pool && { pool }) }
    let most = 0
    await room.claim(demand, async (found) => {
      most = found
      return 0
    })
    return most
  }
  t.same([await roomOf(), await roomOf('eu'), await roomOf('asia')], [3, 5, 0])

  const claims = [{ kind: 'inbound', workspaceId: user.workspaceId }] as const
  const taken = await slots.take(claims, ['b'], 'eu')
  t.match(taken, { slot: 'b/0', pool: 'eu' })
  if (taken === undefined) return
  t.same(await slots.renew([taken]), [], 'its lease is renewed where it is')
  t.equal(await slots.take(claims, ['b'], ''), undefined, 'no other pool has the worker')
  t.same([await roomOf(), await roomOf('eu')], [3, 4])
  t.equal(await slots.release(taken, 0), true)
  t.equal(await roomOf('eu'), 5)
})

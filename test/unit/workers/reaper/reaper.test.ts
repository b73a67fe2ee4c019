import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import type { Carriers } from '../../../../runtime/dialing/carriers.ts'
import { systemClock } from '../../../../runtime/lib/clock.ts'
import { createRedis, type RedisClient } from '../../../../store/redis/client.ts'
import { startReaper } from '../../../../workers/reaper/reaper.ts'
import { carrierReleaser } from '../../../../workers/reaper/release-carrier.ts'
import {
  endedCall,
  makeCall,
  openSession,
  type RealtimeNode,
  readCall,
  startNode,
  startWorker,
  until,
  type Waiting,
} from '../../../support/instance/realtime-node.ts'
import { testRedis } from '../../../support/instance/services.ts'
import { startFaultProxy } from '../../../support/world/fault-proxy.ts'

const log = pino({ level: 'silent' })

function reap(t: Test, node: RealtimeNode, graceMs: number): void {
  const { store, redis } = node
  const reaper = startReaper({ store, redis, clock: systemClock, log, intervalMs: 50, graceMs })
  t.teardown(() => reaper.stop())
}

t.test('a call whose node died is ended once, and a running one is left alone', async (t) => {
  const node = await startNode(t)
  await startWorker(t, [node])
  const [alive, orphan] = [await makeCall(node), await makeCall(node)]
  const client = await openSession(t, node, alive)
  await node.store
    .tenant(orphan.workspaceId)
    .db.updateTable('calls')
    .set({ status: 'in_progress', answered_at: new Date(Date.now() - 5_000) })
    .where('id', '=', orphan.callId)
    .execute()
  reap(t, node, 300)
  const { call } = await endedCall(node, orphan)
  t.match(call, { status: 'failed', end_reason: 'node_lost', disposition: 'failed' })
  t.ok((call.duration_ms ?? 0) >= 5_000, `${call.duration_ms} ms`)
  client.send({ type: 'text', text: 'hello' })
  await client.got('transcript', { text: '2: hello' })
  t.equal((await readCall(node, alive)).call.status, 'in_progress')
  client.send({ type: 'end' })
  t.match((await endedCall(node, alive)).call, { status: 'completed' })
})

/** What the reaper says, besides ending calls. */
function reapAloud(t: Test, node: RealtimeNode, redis: RedisClient, graceMs: number): string[] {
  const lines: string[] = []
  const told = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) })
  const reaper = startReaper({ store: node.store, redis, clock: systemClock, log: told, intervalMs: 50, graceMs })
  t.teardown(() => reaper.stop())
  return lines
}

async function talks(node: RealtimeNode, client: Awaited<ReturnType<typeof openSession>>, t: Test, waiting: Waiting) {
  client.send({ type: 'text', text: 'hello' })
  await client.got('transcript')
  t.equal((await readCall(node, waiting)).call.status, 'in_progress')
}

t.test('no call is ended while Redis refuses writes, and the reason is logged once', async (t) => {
  const node = await startNode(t)
  await startWorker(t, [node])
  const alive = await makeCall(node)
  const client = await openSession(t, node, alive)
  // Without the second witness: what counts is that refused renewals are no death.
  await node.store.pool.query('drop table node_leases')
  await node.store.pool.query(
    'create table node_leases (node_id uuid primary key, calls uuid[], renewed_at timestamptz)',
  )
  const lines = reapAloud(t, node, node.redis, 300)
  await node.redis.configSet('maxmemory', '1')
  await node.redis.del('patchbay:{calls}:leases')
  await sleep(2_500)
  await talks(node, client, t, alive)
  t.equal(lines.filter((line) => /No call is ended as lost/.test(line)).length, 1, lines.join(''))
  t.match(lines.join(''), 'Redis refuses writes because its memory is full')
})

t.test('a call whose node can reach the database and not Redis is kept, and the log says by whose word', async (t) => {
  const redisUrl = await testRedis(t)
  const proxy = await startFaultProxy(t, { path: decodeURIComponent(new URL(redisUrl).pathname) })
  const node = await startNode(t, { redisUrl: `redis://127.0.0.1:${proxy.port}` })
  await startWorker(t, [node])
  const alive = await makeCall(node)
  const client = await openSession(t, node, alive)
  const redis = await createRedis(redisUrl, log)
  t.teardown(() => redis.destroy())
  await until(async () => (await node.store.pool.query('select from node_leases')).rowCount === 1)
  proxy.cut()
  await redis.del('patchbay:{calls}:leases')
  const lines = reapAloud(t, node, redis, 300)
  await sleep(2_000)
  await talks(node, client, t, alive)
  t.match(lines.join(''), 'A call without a lease is kept: its node reports it')
  // Now the node is silent towards both.
  await node.store.pool.query("update node_leases set calls = '{}'")
  const { call } = await endedCall(node, alive)
  t.match(call, { status: 'failed', end_reason: 'node_lost' })
  await until(() =>
    /no lease for \d+ ms while Redis took writes, and no api node reported the call/.test(lines.join('')),
  )
})

t.test('a web session nobody opened is canceled once its token is expired, not before', async (t) => {
  const node = await startNode(t)
  const [fresh, old] = [await makeCall(node), await makeCall(node)]
  await node.store.pool.query("update calls set created_at = now() - interval '11 minutes' where id = $1", [old.callId])
  reap(t, node, 0)
  t.match((await endedCall(node, old)).call, { status: 'canceled', end_reason: 'token_expired', duration_ms: 0 })
  t.equal((await readCall(node, fresh)).call.status, 'queued')
})

t.test('a call whose lease Redis forgot is not ended when its node renews it in time', async (t) => {
  const node = await startNode(t)
  await startWorker(t, [node])
  const waiting = await makeCall(node)
  await openSession(t, node, waiting)
  reap(t, node, 60_000)
  await node.redis.flushAll()
  await until(async () => (await node.redis.zCard('patchbay:{calls}:leases')) === 1)
  await new Promise((resolve) => setTimeout(resolve, 200))
  t.equal((await readCall(node, waiting)).call.status, 'in_progress')
})

t.test('a call whose end the database refuses keeps no other from its end, and is said once', async (t) => {
  const node = await startNode(t)
  const [stuck, other] = [await makeCall(node), await makeCall(node)]
  const { pool } = node.store
  await pool.query("update calls set created_at = now() - interval '11 minutes'")
  await pool.query(`alter table calls add check (id <> '${stuck.callId}' or status = 'queued')`)
  const lines: object[] = []
  const log = pino({ level: 'error' }, { write: (line: string) => void lines.push(JSON.parse(line)) })
  const { store, redis } = node
  const reaper = startReaper({ store, redis, clock: systemClock, log, intervalMs: 50, graceMs: 0 })
  t.teardown(() => reaper.stop())
  t.match((await endedCall(node, other)).call, { end_reason: 'token_expired' })
  await new Promise((resolve) => setTimeout(resolve, 300))
  t.match(lines, [{ callId: stuck.callId, code: '23514' }])
  t.equal(lines.length, 1)
  await pool.query('alter table calls drop constraint calls_check')
  t.match((await endedCall(node, stuck)).call, { end_reason: 'token_expired' })
})

t.test(
  'the carrier of a call whose node died is asked until it answers, and the call is recorded meanwhile',
  async (t) => {
    const node = await startNode(t)
    const orphan = await makeCall(node)
    const { db } = node.store.tenant(orphan.workspaceId)
    const number = '+14155550111'
    await db.insertInto('phone_numbers').values({ phone_number: number, provider: 'any', trunk: null }).execute()
    const placed = {
      status: 'in_progress',
      answered_at: new Date(),
      placed_at: new Date(),
      from_number: number,
    } as const
    await db.updateTable('calls').set(placed).where('id', '=', orphan.callId).execute()
    const asked: string[] = []
    let isUp = false
    const carrier = {
      async lookup() {
        if (!isUp) throw new Error('away')
        return 'live' as const
      },
      async hangup(callId: string) {
        asked.push(callId)
      },
    }
    const carriers = { get: async () => carrier } as unknown as Carriers
    const { release, close } = carrierReleaser(node.store, carriers, log)
    t.teardown(close)
    const { store, redis } = node
    const options = { store, redis, clock: systemClock, log, intervalMs: 50, graceMs: 300 }
    const reaper = startReaper({ ...options, releaseCarrier: release })
    t.teardown(() => reaper.stop())
    t.match((await endedCall(node, orphan)).call, { end_reason: 'node_lost' })
    t.same(asked, [])
    isUp = true
    await until(async () => asked.length > 0)
    t.same(asked, [orphan.callId])
  },
)

import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import t from 'tap'
import { uuidv7 } from 'uuidv7'
import { Placer } from '../../../api/calls/outbound-placer.ts'
import { systemClock } from '../../../runtime/clock.ts'
import { Quotas } from '../../../runtime/session/quotas.ts'
import type { Carriers } from '../../../runtime/telephony/carriers.ts'
import { markPlaced } from '../../../store/outbound-calls.ts'
import { storedQuotas } from '../../../store/quotas.ts'
import { redisQuotaPlaces } from '../../../store/redis/quota-places.ts'
import { makeCall, type RealtimeNode, startNode, startWorker } from '../../support/realtime-node.ts'

const log = pino({ level: 'silent' })

let numbers = 0

/** A queued outbound call of a workspace with a number. */
async function makeOutbound(node: RealtimeNode, batch?: { status: string }) {
  const { workspaceId, callId } = await makeCall(node)
  const { db } = node.store.tenant(workspaceId)
  const { agent_id } = await db.selectFrom('calls').select('agent_id').executeTakeFirstOrThrow()
  const from = `+1415555${1000 + numbers++}`
  await db.insertInto('phone_numbers').values({ phone_number: from, agent_id, provider: 'fake', trunk: null }).execute()
  const batchId = batch && uuidv7()
  if (batchId !== undefined) {
    await node.store.pool.query(
      `insert into batches (id, workspace_id, name, agent_id, agent_phone_number, status, timezone, columns)
       values ($1, $2, '', $3, $4, $5, 'UTC', '[]')`,
      [batchId, workspaceId, agent_id, from, batch?.status],
    )
  }
  await db
    .updateTable('calls')
    .set({
      call_type: 'phone',
      direction: 'outbound',
      from_number: from,
      to_number: '+14155550199',
      batch_id: batchId ?? null,
    })
    .where('id', '=', callId)
    .execute()
  return { workspaceId, callId, tenant: node.store.tenant(workspaceId), batchId }
}

t.test('of two nodes that race for a call one dials it', async (t) => {
  const first = await startNode(t)
  const second = await startNode(t, { databaseUrl: first.databaseUrl, redisUrl: first.redisUrl })
  await startWorker(t, [first, second], { capacity: 20 })
  const dialled: string[] = []
  const carriers = {
    get: async () => ({
      dial: async ({ callId }: { callId: string }) => void dialled.push(callId),
      hangup: async () => {},
    }),
    titleOf: () => 'Fake',
  } as unknown as Carriers
  const placers = [first, second].map((node) => {
    const quotas = new Quotas(
      redisQuotaPlaces(node.redis),
      storedQuotas(node.store, { webSessionsPerWorkspace: null }),
      log,
    )
    t.teardown(() => quotas.stop())
    const { calls, journalOf } = node.sessions
    const limits = { idleMs: 60_000, maxDurationMs: 60_000 }
    const rest = {
      store: node.store,
      limits,
      mayDial: async () => undefined,
      ringTimeoutMs: 30_000,
      clock: systemClock,
      log,
    }
    const placer = new Placer({ ...rest, calls, quotas, carriers, journalOf })
    t.teardown(() => placer.stop())
    return placer
  })
  const made = await Promise.all(Array.from({ length: 4 }, () => makeOutbound(first)))
  await Promise.all(
    made.flatMap(({ callId, workspaceId }) =>
      placers.map((placer) => placer.place(callId, workspaceId, undefined, AbortSignal.timeout(60_000))),
    ),
  )
  t.same(dialled.sort(), made.map(({ callId }) => callId).sort())
})

t.test('of many that mark a call as placed one may dial', async (t) => {
  const node = await startNode(t)
  const { tenant, callId } = await makeOutbound(node)
  const marks = await Promise.all(Array.from({ length: 12 }, () => markPlaced(tenant, callId, new Date())))
  t.equal(marks.filter((mine) => mine).length, 1)
})

t.test('no call of a batch that rests is placed, and a pause waits for who is about to place one', async (t) => {
  const node = await startNode(t)
  for (const status of ['paused', 'canceled', 'completed']) {
    const { tenant, callId } = await makeOutbound(node, { status })
    t.equal(await markPlaced(tenant, callId, new Date()), false, status)
  }
  const { tenant, callId, batchId } = await makeOutbound(node, { status: 'running' })
  let paused = false
  let pausing: Promise<unknown> = Promise.resolve()
  await tenant.db.transaction().execute(async (db) => {
    t.ok(await markPlaced({ workspaceId: tenant.workspaceId, db }, callId, new Date()))
    pausing = node.store.pool
      .query("update batches set status = 'paused' where id = $1", [batchId])
      .then(() => (paused = true))
    await sleep(300)
    t.notOk(paused, 'its answer comes after the call is marked')
  })
  await pausing
  t.ok(paused)
})

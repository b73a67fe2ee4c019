import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import t from 'tap'
import { uuidv7 } from 'uuidv7'
import { Placer } from '../../../../api/calls/outbound-placer.ts'
import { Quotas } from '../../../../runtime/call/control/quotas.ts'
import type { Leg, LegEvents } from '../../../../runtime/call/types/leg.ts'
import type { Carriers } from '../../../../runtime/dialing/carriers.ts'
import { systemClock } from '../../../../runtime/lib/clock.ts'
import type { Carrier, DialEvents, DialOrder } from '../../../../runtime/plugin-sdk/telephony/carrier.ts'
import { callEvents } from '../../../../store/calls/call-events.ts'
import { markPlaced } from '../../../../store/calls/outbound-calls.ts'
import { redisQuotaPlaces } from '../../../../store/redis/quota-places.ts'
import { storedQuotas } from '../../../../store/workspaces/quotas.ts'
import { makeCall, type RealtimeNode, startNode, startWorker, until } from '../../../support/instance/realtime-node.ts'
import type { Teardown } from '../../../support/instance/services.ts'
import { NO_MCP } from '../../../support/providers/no-mcp.ts'

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

/** A placer of a node that dials by these carriers, in place of the node's own. */
function startPlacer(t: Teardown, node: RealtimeNode, carrier: Pick<Carrier, 'dial' | 'hangup'>): Placer {
  const quotas = new Quotas(
    redisQuotaPlaces(node.redis),
    storedQuotas(node.store, { webSessionsPerWorkspace: null }),
    log,
  )
  t.teardown(() => quotas.stop())
  const placer = new Placer({
    ...{
      store: node.store,
      calls: node.sessions.calls,
      quotas,
      journalOf: node.sessions.journalOf,
      clock: systemClock,
      log,
    },
    carriers: { get: async () => carrier, titleOf: () => 'Fake' } as unknown as Carriers,
    limits: { idleMs: 600_000, maxDurationMs: 600_000 },
    mcpTools: NO_MCP,
    mayDial: async () => undefined,
    ringTimeoutMs: 600_000,
  })
  t.teardown(() => placer.stop())
  return placer
}

t.test('of two nodes that race for a call one dials it', async (t) => {
  const first = await startNode(t)
  const second = await startNode(t, { databaseUrl: first.databaseUrl, redisUrl: first.redisUrl })
  await startWorker(t, [first, second], { capacity: 20 })
  const dialled: string[] = []
  const carrier = {
    dial: async ({ callId }: DialOrder) => void dialled.push(callId),
    hangup: async () => {},
  }
  const placers = [first, second].map((node) => startPlacer(t, node, carrier))
  const made = await Promise.all(Array.from({ length: 4 }, () => makeOutbound(first)))
  await Promise.all(
    made.flatMap(({ callId, workspaceId }) =>
      placers.map((placer) => placer.place(callId, workspaceId, undefined, AbortSignal.timeout(60_000))),
    ),
  )
  t.same(dialled.sort(), made.map(({ callId }) => callId).sort())
})

/** A placer of a node with a worker, and whom it dialled. */
async function startDialled(t: Parameters<typeof startPlacer>[0]) {
  const node = await startNode(t)
  await startWorker(t, [node])
  const dialled: string[] = []
  const placer = startPlacer(t, node, {
    dial: async ({ callId }) => void dialled.push(callId),
    hangup: async () => {},
  })
  return { node, dialled, placer }
}

t.test('a call whose job runs twice at once is dialled once, and stays this node’s', async (t) => {
  const { node, dialled, placer } = await startDialled(t)
  const { callId, workspaceId } = await makeOutbound(node)
  const place = () => placer.place(callId, workspaceId, undefined, AbortSignal.timeout(60_000))
  await Promise.all([place(), place()])
  t.same(dialled, [callId])
  t.ok(await node.redis.zScore('patchbay:{calls}:leases', callId), 'no reaper ends it')
})

t.test('a call that is hung up before the carrier was asked is not dialled', async (t) => {
  const { node, dialled, placer } = await startDialled(t)
  const { tenant, callId, workspaceId } = await makeOutbound(node)
  const placed = placer.place(callId, workspaceId, undefined, AbortSignal.timeout(60_000))
  while (!placer.hangUp(callId)) await setImmediate()
  await placed
  t.same(dialled, [])
  const read = () => tenant.db.selectFrom('calls').selectAll().where('id', '=', callId).executeTakeFirstOrThrow()
  await until(async () => (await read()).ended_at !== null)
  t.match(await read(), { status: 'canceled' })
})

/** The phone of a callee, and what was done to it. */
function phoneLeg(): Leg & { hangUp(): void; said: string[]; closed: Promise<string> } {
  const closed = Promise.withResolvers<string>()
  const said: string[] = []
  let events: LegEvents | undefined
  return {
    format: { encoding: 'pcmu', sampleRateHz: 8_000 },
    start: (to) => {
      events = to
    },
    answer() {},
    sendAudio() {},
    clear() {},
    mark() {},
    agentState() {},
    transcript: ({ role, text }) => void (role === 'assistant' && said.push(text)),
    error() {},
    close: (reason) => closed.resolve(reason),
    hangUp: () => events?.ended('caller_hangup'),
    said,
    closed: closed.promise,
  }
}

t.test('who is dialled without a seat gets the next one, or hears who called', { timeout: 600_000 }, async (t) => {
  const node = await startNode(t, { shares: { inboundReserve: 0, workspaceShare: 1 } })
  await startWorker(t, [node], { capacity: 1 })
  const orders = new Map<string, DialEvents>()
  const placer = startPlacer(t, node, {
    dial: async ({ callId }, events) => void orders.set(callId, events),
    hangup: async () => {},
  })
  const dial = async (seatShare: number | null) => {
    const made = await makeOutbound(node)
    await node.store.pool.query('update calls set seat_share = $2 where id = $1', [made.callId, seatShare])
    await placer.place(made.callId, made.workspaceId, undefined, AbortSignal.timeout(60_000))
    const leg = phoneLeg()
    const row = async () =>
      (await node.store.pool.query('select * from calls where id = $1', [made.callId])).rows[0] as Record<
        string,
        unknown
      >
    return { leg, row, pickUp: () => orders.get(made.callId)!.answered(leg, 'human') }
  }
  const [first, second, third] = [await dial(0.5), await dial(0.5), await dial(0.5)]
  t.equal(orders.size, 3, 'three calls ring on one seat')
  first!.pickUp()
  await until(async () => (await first!.row()).status === 'in_progress')
  t.match(await first!.row(), { picked_up_at: Date })
  second!.pickUp()
  t.equal(await second!.leg.closed, 'abandoned')
  t.match(second!.leg.said, [/^Hello, this is w\. We called you.* our number is 1 4 1 5 5 5 5 1/])
  await until(async () => (await second!.row()).ended_at !== null)
  const { answered_at, picked_up_at, ...row } = await second!.row()
  t.match(row, { status: 'completed', end_reason: 'abandoned', disposition: 'abandoned' })
  const waitedMs = (answered_at as Date).getTime() - (picked_up_at as Date).getTime()
  t.ok(waitedMs >= 1_400, `${waitedMs} ms`)
  third!.pickUp()
  // Its seat is free a moment later: whoever picked up does not wait for long.
  first!.leg.hangUp()
  await until(async () => (await third!.row()).status === 'in_progress')
  third!.leg.hangUp()
  t.equal(await third!.leg.closed, 'caller_hangup', 'who waits gets the seat that becomes free')
})

t.test('a call that ended says with its end what the carrier said of that', async (t) => {
  const node = await startNode(t)
  await startWorker(t, [node], { capacity: 1 })
  const carrier: Parameters<typeof startPlacer>[2] = {
    dial: async (_order, events) => {
      events.carrier?.({ callId: 'leg-1', trunk: 'peer' })
      events.carrier?.({ sipStatus: 486, releasedBy: 'callee' })
      events.failed('busy')
    },
    hangup: async () => {},
  }
  const placer = startPlacer(t, node, carrier)
  const { tenant, callId, workspaceId } = await makeOutbound(node)
  await placer.place(callId, workspaceId, undefined, AbortSignal.timeout(60_000))
  const read = () => tenant.db.selectFrom('calls').selectAll().where('id', '=', callId).executeTakeFirstOrThrow()
  let over: Awaited<ReturnType<typeof read>> | undefined
  await until(async () => {
    const row = await read()
    if (row.ended_at !== null) over = row
    return over !== undefined
  })
  t.match(over, {
    status: 'busy',
    carrier: { call_id: 'leg-1', trunk: 'peer', sip_status: 486, released_by: 'callee' },
  })
  const call = { id: callId, createdAt: over!.created_at }
  const { events } = await callEvents(tenant, call, 0, 100)
  t.match(
    events.map(({ type }) => type),
    ['queued', 'carrier', 'carrier', 'ended'],
  )
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

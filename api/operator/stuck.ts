import { setTimeout as sleep } from 'node:timers/promises'
import { LEASE_MS } from '../../runtime/call/control/leases.ts'
import { systemClock } from '../../runtime/lib/clock.ts'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { createLogger } from '../../runtime/process/log.ts'
import { maintenanceOf } from '../../store/accounts/maintenance.ts'
import { cancelBatch, retryBatch } from '../../store/batches/batch-control.ts'
import { type OpenBatch, openBatches } from '../../store/batches/open-batches.ts'
import { cancelQueuedCall } from '../../store/calls/cancel-calls.ts'
import { listOpenCalls, openPhoneCalls } from '../../store/calls/open-calls.ts'
import { reportedCalls } from '../../store/calls/reported-calls.ts'
import { endCall } from '../../store/calls/write-calls.ts'
import type { Store } from '../../store/database/database.ts'
import { databaseClockOf } from '../../store/database/database-clock.ts'
import { type StuckWebhook, stuckWebhooks } from '../../store/events/stuck-webhooks.ts'
import { recoverDeliveries } from '../../store/events/webhook-deliveries.ts'
import { leasesOf, redisCallLeases } from '../../store/redis/call-leases.ts'
import { createRedis, type RedisClient } from '../../store/redis/client.ts'
import { requestHangup } from '../../store/redis/hangup.ts'
import { countSlots, freeSeat, type HeldSeat, listHeldSeats, listPools, listWorkers } from '../../store/redis/slots.ts'
import { storedQuotas } from '../../store/workspaces/quotas.ts'
import { workerPoolOf } from '../../store/workspaces/worker-pools.ts'
import { exhaustedQuota } from '../../store/workspaces/workspace-quotas.ts'
import { lookAtQueue, SHARED_QUEUES, type SharedQueue } from '../../workers/queue-jobs.ts'
import { explainCall } from './explain-call.ts'

/** What is stuck, seen and freed from the shell: calls, batches, queues, deliveries, seats and leases. */

const SHOWN = 100
const HANGUP_WAIT_MS = 5_000
const HANGUP_POLL_MS = 50
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i

export const STUCK_USAGE = `
What is stuck (needs Redis: REDIS_URL, or the running Patchbay of this data folder):
  calls                            the open calls, and who holds them
  calls explain <call>             why it is where it is
  calls release <call>             ends it: cancelled, hung up, or as lost where no node holds it
  batches                          the batches that are not over
  batches explain <batch>          what its rows wait for
  batches retry <batch>            calls its failed rows again
  batches cancel <batch>           calls no further row of it
  queue [name]                     the queues and their jobs
  queue retry <name> [job]         what waits for its time runs now
  queue release <name> <job>       removes a job that nobody runs
  deliveries [webhook]             the webhooks whose deliveries wait or failed
  deliveries retry <webhook> [hours]  sends again what failed or waits, of the last 24 hours
  seats                            the voice seats that are taken, and who holds them
  seats release <seat>             takes it from its holder; the call that had it goes on
  leases                           the open calls without a lease
  leases release <call>            drops a lease: the call is lost unless its node renews it
`

interface Stuck {
  readonly store: Store
  readonly redis: RedisClient
  readonly args: readonly string[]
}

type StuckCommand = { run(stuck: Stuck): Promise<string>; args: [least: number, most: number]; writes: boolean }

/** By the words of each; those that write are in the audit log. */
export const STUCK_COMMANDS: Readonly<Record<string, StuckCommand>> = {
  calls: { run: calls, args: [0, 0], writes: false },
  'calls explain': { run: explain, args: [1, 1], writes: false },
  'calls release': { run: releaseCall, args: [1, 1], writes: true },
  batches: { run: batches, args: [0, 0], writes: false },
  'batches explain': { run: explainBatch, args: [1, 1], writes: false },
  'batches retry': { run: retry, args: [1, 1], writes: true },
  'batches cancel': { run: cancel, args: [1, 1], writes: true },
  queue: { run: queues, args: [0, 1], writes: false },
  'queue retry': { run: retryJobs, args: [1, 2], writes: true },
  'queue release': { run: releaseJob, args: [2, 2], writes: true },
  deliveries: { run: deliveries, args: [0, 1], writes: false },
  'deliveries retry': { run: retryDeliveries, args: [1, 2], writes: true },
  seats: { run: seats, args: [0, 0], writes: false },
  'seats release': { run: releaseSeat, args: [1, 1], writes: true },
  leases: { run: leases, args: [0, 0], writes: false },
  'leases release': { run: releaseLease, args: [1, 1], writes: true },
}

/** Runs one of them with a connection to Redis of its own. Throws `configuration` where there is no Redis. */
export async function runStuck(
  command: StuckCommand,
  { store, args, redisUrl }: Omit<Stuck, 'redis'> & { redisUrl: string | undefined },
): Promise<string> {
  if (redisUrl === undefined) throw fault('Patchbay does not run on this data folder, and REDIS_URL is not set')
  const redis = await createRedis(redisUrl, createLogger({ level: 'error', name: 'admin' }))
  try {
    return await command.run({ store, redis, args })
  } finally {
    redis.destroy()
  }
}

async function openCalls({ store, redis }: Stuck) {
  const open = await listOpenCalls(store, undefined, SHOWN)
  const ids = open.map(({ id }) => id)
  const [leased, reported] = await Promise.all([leasesOf(redis, ids), reportedCalls(store, ids, LEASE_MS)])
  return open.map((call) => ({ ...call, leaseMs: leased.get(call.id), nodeId: reported.get(call.id) }))
}

async function calls(stuck: Stuck): Promise<string> {
  const [open, now] = await Promise.all([openCalls(stuck), nowOf(stuck.store)])
  return listed(
    open.map(({ id, status, callType, createdAt, leaseMs, nodeId }) => {
      const held = leaseMs === undefined || leaseMs <= 0 ? 'no lease' : `leased ${Math.round(leaseMs / 1_000)} s`
      return `${id}  ${callType}  ${status}  ${age(createdAt, now)}  ${held}  ${nodeId === undefined ? 'no node' : `node ${nodeId}`}`
    }),
  )
}

async function callOf({ store, args: [id = ''] }: Stuck) {
  const call = UUID.test(id)
    ? await store.acrossTenants
        .selectFrom('calls as c')
        .leftJoin('batches as b', 'b.id', 'c.batch_id')
        .innerJoin('workspaces as w', 'w.id', 'c.workspace_id')
        .select(['c.id', 'c.workspace_id', 'c.status', 'c.call_type', 'c.direction', 'c.created_at', 'c.placed_at'])
        .select(['c.agent_id', 'c.from_number', 'c.to_number'])
        .select(['c.ended_at', 'c.end_reason', 'b.status as batch_status', 'w.suspended_at'])
        .where('c.id', '=', id.toLowerCase())
        .executeTakeFirst()
    : undefined
  if (call === undefined) throw fault(`"${id}" is no call; "npm run patchbay admin calls" lists the open ones`)
  return call
}

async function explain(stuck: Stuck): Promise<string> {
  const { store, redis } = stuck
  const call = await callOf(stuck)
  const number = call.direction === 'outbound' ? call.from_number : call.to_number
  const pool = await workerPoolOf(store, { agentId: call.agent_id, workspaceId: call.workspace_id, number })
  const [leased, reported, isQueued, maintenance, exhausted, quotas, open, slots] = await Promise.all([
    leasesOf(redis, [call.id]),
    reportedCalls(store, [call.id], LEASE_MS),
    lookAtQueue(redis, 'outbound-calls', async ({ jobs }) => (await jobs()).some(({ id }) => id === call.id)),
    maintenanceOf(store),
    exhaustedQuota(store, call.workspace_id),
    storedQuotas(store, { webSessionsPerWorkspace: null }).ofWorkspace(call.workspace_id),
    openPhoneCalls(store),
    countSlots(redis, pool),
  ])
  const own = open.filter(({ workspaceId }) => workspaceId === call.workspace_id)
  const lines = explainCall({
    ...{ status: call.status, callType: call.call_type, direction: call.direction, createdAt: call.created_at },
    ...{ placedAt: call.placed_at, endedAt: call.ended_at, endReason: call.end_reason },
    ...{ batchStatus: call.batch_status, leaseMs: leased.get(call.id), nodeId: reported.get(call.id), isQueued },
    ...{ maintenance: maintenance !== null, suspended: call.suspended_at !== null, exhausted },
    callsAtOnce: quotas.callsAtOnce,
    placedCalls: own.reduce((sum, { placed }) => sum + placed, 0),
    seats: slots,
  })
  return lines.join('\n')
}

/** As it is now: cancelled before it was placed, hung up by its node, or ended as lost. */
async function releaseCall(stuck: Stuck): Promise<string> {
  const { store, redis } = stuck
  const call = await callOf(stuck)
  if (call.ended_at !== null) return `It was over already: ${call.end_reason}`
  const at = await nowOf(store)
  if (await cancelQueuedCall(store.tenant(call.workspace_id), call.id, at))
    return 'It was cancelled before it was placed'
  await requestHangup(redis, call.id, { id: '', name: 'the operator' })
  for (const untilMs = performance.now() + HANGUP_WAIT_MS; performance.now() < untilMs; await sleep(HANGUP_POLL_MS)) {
    const { end_reason } = await callOf(stuck)
    if (end_reason !== null) return `Its node ended it: ${end_reason}`
  }
  const [leased, reported] = await Promise.all([leasesOf(redis, [call.id]), reportedCalls(store, [call.id], LEASE_MS)])
  if ((leased.get(call.id) ?? 0) > 0 || reported.has(call.id)) {
    throw fault('A node holds the call and has not ended it: look at the log of that node, or stop it')
  }
  const end = {
    status: 'failed',
    endReason: 'node_lost',
    disposition: 'failed',
    error: 'No server held the call any more; an operator ended it',
  } as const
  const target = { workspaceId: call.workspace_id, callId: call.id }
  if (!(await endCall(store, target, end, at))) return 'It was over already'
  return 'No node held it: it was ended as node_lost'
}

async function batches({ store }: Stuck): Promise<string> {
  return listed((await openBatches(store, null, SHOWN)).map(batchLine))
}

function batchLine({ id, name, status, total, completed, failed, running }: OpenBatch): string {
  const waiting = Math.max(0, total - completed - failed - running)
  return `${id}  ${status}  ${waiting} waiting, ${running} running, ${completed} completed, ${failed} failed of ${total}  ${name}`
}

async function batchOf({ store, args: [id = ''] }: Stuck): Promise<OpenBatch> {
  const [batch] = UUID.test(id) ? await openBatches(store, id, 1) : []
  if (batch === undefined)
    throw fault(`"${id}" is no batch; "npm run patchbay admin batches" lists those that are not over`)
  return batch
}

async function explainBatch(stuck: Stuck): Promise<string> {
  const { store, redis } = stuck
  const batch = await batchOf(stuck)
  const { status, scheduledAt, workspaceId } = batch
  const lines = [batchLine(batch)]
  if (status === 'scheduled') lines.push(`It begins at ${scheduledAt?.toISOString()}.`)
  else if (status !== 'running') lines.push(`It is ${status}: no row is called.`)
  else {
    const [quotas, slots] = await Promise.all([
      storedQuotas(store, { webSessionsPerWorkspace: null }).ofWorkspace(workspaceId),
      countSlots(redis),
    ])
    if (quotas.closed !== undefined) lines.push('The installation is in maintenance: no call begins.')
    else if (quotas.callsAtOnce === 0) lines.push('Its workspace is suspended, or may have no call at once.')
    if (slots.capacity === 0) lines.push('No voice worker is linked.')
    else if (slots.ready === 0) lines.push(`All ${slots.capacity} voice seats are taken.`)
  }
  return lines.join('\n')
}

async function retry(stuck: Stuck): Promise<string> {
  const { id, workspaceId, status } = await batchOf(stuck)
  const again = await retryBatch(stuck.store.tenant(workspaceId), id)
  if (again === undefined) throw fault(`A batch that is ${status} has nothing to call again`)
  return again === 1 ? '1 row is called again' : `${again} rows are called again`
}

async function cancel(stuck: Stuck): Promise<string> {
  const { id, workspaceId, status } = await batchOf(stuck)
  if (!(await cancelBatch(stuck.store.tenant(workspaceId), id, await nowOf(stuck.store)))) {
    throw fault(`A batch that is ${status} can't be cancelled`)
  }
  return 'No further row is called; calls that run go on'
}

function queueNamed(name = ''): SharedQueue {
  const found = SHARED_QUEUES.find((one) => one === name)
  if (found === undefined) throw fault(`"${name}" is none of the queues ${SHARED_QUEUES.join(', ')}`)
  return found
}

async function queues({ redis, args: [name] }: Stuck): Promise<string> {
  if (name === undefined) {
    const lines = SHARED_QUEUES.map((one) =>
      lookAtQueue(redis, one, async ({ counts }) => {
        const parts = Object.entries(await counts()).map(([state, count]) => `${count} ${state}`)
        return `${one}  ${parts.join(', ')}`
      }),
    )
    return (await Promise.all(lines)).join('\n')
  }
  const jobs = await lookAtQueue(redis, queueNamed(name), ({ jobs }) => jobs())
  // Queues go by the clocks of machines.
  const now = new Date(systemClock.nowMs())
  return listed(
    jobs.map(
      ({ id, state, addedAtMs, attempts, fault }) =>
        `${id}  ${state}  ${age(new Date(addedAtMs), now)}  ${attempts} attempts${fault === '' ? '' : `  ${fault}`}`,
    ),
  )
}

async function retryJobs({ redis, args: [name, job] }: Stuck): Promise<string> {
  const count = await lookAtQueue(redis, queueNamed(name), (look) => look.retry(job))
  return count === 1 ? '1 job runs now' : `${count} jobs run now`
}

async function releaseJob({ redis, args: [name, job = ''] }: Stuck): Promise<string> {
  const done = await lookAtQueue(redis, queueNamed(name), ({ remove }) => remove(job))
  if (done === 'unknown')
    throw fault(`"${job}" is no job of the queue; "npm run patchbay admin queue ${name}" lists them`)
  if (done === 'running') throw fault('A process runs the job; once that is dead for a minute another takes it over')
  return 'The job is removed'
}

async function deliveries({ store, args: [id] }: Stuck): Promise<string> {
  if (id !== undefined && !UUID.test(id)) throw fault(`"${id}" is no webhook`)
  return listed((await stuckWebhooks(store, id ?? null, SHOWN)).map(webhookLine))
}

function webhookLine({
  id,
  url,
  enabled,
  disabledReason,
  failingSince,
  due,
  later,
  failed,
  lastError,
}: StuckWebhook): string {
  const state = enabled
    ? failingSince === null
      ? 'well'
      : `failing since ${failingSince.toISOString()}`
    : `off: ${disabledReason ?? 'its workspace turned it off'}`
  const counts = `${due} due, ${later} later, ${failed} failed`
  return `${id}  ${new URL(url).host}  ${counts}  ${state}${lastError === null ? '' : `  ${lastError}`}`
}

async function retryDeliveries({ store, args: [id = '', hours = '24'] }: Stuck): Promise<string> {
  const [webhook] = UUID.test(id) ? await stuckWebhooks(store, id, 1) : []
  if (webhook === undefined) throw fault(`"${id}" is no webhook; "npm run patchbay admin deliveries" lists them`)
  const span = Number(hours)
  if (!(span > 0 && span <= 24 * 365)) throw fault(`"${hours}" is no number of hours`)
  const since = new Date((await nowOf(store)).getTime() - span * 3_600_000)
  const count = await recoverDeliveries(store.tenant(webhook.workspaceId), id, since)
  return count === 1 ? '1 event is sent' : `${count} events are sent`
}

async function seats({ redis }: Stuck): Promise<string> {
  const [held, workers, pools] = await Promise.all([listHeldSeats(redis), listWorkers(redis), listPools(redis)])
  const slots = await Promise.all(pools.map((pool) => countSlots(redis, pool)))
  const [ready, capacity] = [
    slots.reduce((sum, one) => sum + one.ready, 0),
    slots.reduce((sum, one) => sum + one.capacity, 0),
  ]
  const head = `${workers.length} voice workers, ${capacity} seats, ${ready} ready, ${held.length} taken`
  return [head, ...held.slice(0, SHOWN).map(seatLine)].join('\n')
}

function seatLine({ slot, workspaceId, leaseMs, hasWorker, pool }: HeldSeat): string {
  const lease = leaseMs > 0 ? `leased ${Math.round(leaseMs / 1_000)} s` : 'its holder is gone'
  return `${slot}  ${pool === undefined ? '' : `pool ${pool}  `}workspace ${workspaceId}  ${lease}${hasWorker ? '' : '  its worker is gone'}`
}

async function releaseSeat({ redis, args: [slot = ''] }: Stuck): Promise<string> {
  const seat = (await listHeldSeats(redis)).find((one) => one.slot === slot)
  if (seat === undefined) throw fault(`"${slot}" is no seat that is taken; "npm run patchbay admin seats" lists them`)
  if (!(await freeSeat(redis, seat))) return 'Its holder has just given it back'
  return seat.leaseMs > 0 ? 'The seat is free; the call that had it goes on beside the next one' : 'The seat is free'
}

async function leases(stuck: Stuck): Promise<string> {
  const [all, now] = await Promise.all([openCalls(stuck), nowOf(stuck.store)])
  const open = all.filter(({ leaseMs }) => leaseMs === undefined || leaseMs <= 0)
  const needing = open.filter(({ status, placedAt }) => status !== 'queued' || placedAt !== null)
  return listed(
    needing.map(
      ({ id, status, createdAt, nodeId }) =>
        `${id}  ${status}  ${age(createdAt, now)}  ${nodeId === undefined ? 'nobody holds it' : `node ${nodeId} reports it`}`,
    ),
  )
}

async function releaseLease(stuck: Stuck): Promise<string> {
  const { id } = await callOf(stuck)
  await redisCallLeases(stuck.redis).drop(id)
  return 'The lease is dropped; a node that holds the call takes it anew within seconds'
}

/** As the database has it. */
async function nowOf(store: Store): Promise<Date> {
  return new Date((await databaseClockOf(store, systemClock)).nowMs())
}

function age(since: Date, now: Date): string {
  const seconds = Math.max(0, Math.round((now.getTime() - since.getTime()) / 1_000))
  return seconds < 120
    ? `${seconds} s`
    : seconds < 7_200
      ? `${Math.round(seconds / 60)} min`
      : `${Math.round(seconds / 3_600)} h`
}

function listed(lines: readonly string[]): string {
  if (lines.length === 0) return 'none'
  return lines.length < SHOWN ? lines.join('\n') : [...lines, `the first ${SHOWN}`].join('\n')
}

function fault(reason: string): PatchbayError {
  return new PatchbayError('configuration', { params: { reason } })
}

import t from 'tap'
import { uuidv7 } from 'uuidv7'
import { runAdmin } from '../../../../api/operator/command.ts'
import { explainCall } from '../../../../api/operator/explain-call.ts'
import { loadConfig } from '../../../../config/load.ts'
import { createLogger } from '../../../../runtime/process/log.ts'
import { createRedis } from '../../../../store/redis/client.ts'
import { RedisSlots } from '../../../../store/redis/slots.ts'
import { openQueue } from '../../../../workers/queues.ts'
import { startTestApi } from '../../../support/instance/api.ts'
import type { Teardown } from '../../../support/instance/services.ts'
import { callWhen, isOver, linkWorker, startPhone } from '../../../support/phone/phone.ts'

/** Of the simulated carrier: talks. */
const CALLEE = '+14155552000'

async function start(t: Teardown) {
  const api = await startTestApi(t)
  const boss = await api.signUp()
  const redis = await createRedis(api.redisUrl, createLogger({ level: 'silent', name: 'test' }))
  t.teardown(() => redis.destroy())
  const { databaseUrl, redisUrl } = api
  const admin = (...words: string[]) => runAdmin(words, { config: loadConfig({}), databaseUrl, redisUrl })
  const audited = async () => {
    const { body } = await boss.client.get('/operator/audit-log')
    return body.items.map(({ action }: { action: string }) => action) as string[]
  }
  return { api, boss, redis, admin, audited }
}

t.test('a call is explained, and ended at whichever node holds it', async (t) => {
  const { api, boss, redis, admin, audited } = await start(t)
  const phone = await startPhone(api, boss)
  t.equal(await admin('calls'), 'none')
  await linkWorker(t, api)
  const body = { agent_phone_number: phone.number, phone_number_to_dial: CALLEE }
  const id = (await boss.client.post('/calls/outbound_call', { body })).body.call_log_id
  await callWhen(boss, id, ({ status }) => status === 'in_progress')

  t.match(await admin('calls'), new RegExp(`^${id}  phone  in_progress  .*leased \\d+ s`))
  t.match(await admin('calls', 'explain', id), /Its lease runs for \d+ s more/)
  t.equal(await admin('leases'), 'none')
  t.match(await admin('seats'), new RegExp(`1 taken\n.*workspace ${boss.workspaceId}  leased`))
  t.match(await admin('calls', 'release', id), 'Its node ended it: api_hangup')
  t.match(await callWhen(boss, id, isOver), { end_reason: 'api_hangup' })
  t.match(await admin('calls', 'explain', id), /It is over since .*: api_hangup/)

  // A call of a node that is gone: no lease, and nobody reports it.
  const lost = uuidv7()
  await api.store.pool.query(
    `insert into calls (id, workspace_id, agent_id, agent_name, call_type, direction, status, dynamic_variables, created_at, placed_at)
     values ($1, $2, $3, 'Ada', 'phone', 'outbound', 'in_progress', '{}', now(), now())`,
    [lost, boss.workspaceId, phone.agentId],
  )
  t.match(await admin('leases'), `${lost}  in_progress  0 s  nobody holds it`)
  t.match(await admin('calls', 'explain', lost), /It has no lease, and no api node reports it to the database: nobody/)
  await redis.zAdd('patchbay:{calls}:leases', { value: lost, score: Date.now() + 600_000 })
  await t.rejects(admin('calls', 'release', lost), { message: /A node holds the call/ })
  t.match(await admin('leases', 'release', lost), 'The lease is dropped')
  t.match(await admin('calls', 'release', lost), 'it was ended as node_lost')
  t.match((await boss.client.get(`/calls/${lost}`)).body, { status: 'failed', end_reason: 'node_lost' })

  await t.rejects(admin('calls', 'release', 'x'), { message: /"x" is no call/ })
  await t.rejects(admin('calls', 'end', lost), { message: /takes other arguments/ })
  const actions = await audited()
  for (const action of ['admin calls release', 'admin leases release']) t.ok(actions.includes(action), action)
  t.notOk(actions.includes('admin calls explain'), 'who only looks is not written down')
})

t.test('jobs are run now or removed, and a seat is taken from a holder that is gone', async (t) => {
  const { api, boss, redis, admin, audited } = await start(t)
  const queue = openQueue('batches', redis)
  t.teardown(() => queue.close())
  const add = (jobId: string) =>
    queue.add(
      { batchId: jobId, workspaceId: boss.workspaceId },
      { jobId, attempts: 3, backoffMs: 500, delayMs: 3_600_000 },
    )
  await add('one')
  await add('two')
  t.match(await admin('queue'), /batches {2}0 active, 0 waiting, 0 prioritized, 2 delayed/)
  t.match(await admin('queue', 'batches'), /one {2}delayed/)
  t.equal(await admin('queue', 'retry', 'batches', 'one'), '1 job runs now')
  t.match(await admin('queue'), /batches {2}0 active, 1 waiting, 0 prioritized, 1 delayed/)
  t.equal(await admin('queue', 'release', 'batches', 'two'), 'The job is removed')
  await t.rejects(admin('queue', 'release', 'batches', 'two'), { message: /"two" is no job/ })
  await t.rejects(admin('queue', 'retry', 'letters'), { message: /none of the queues documents, / })

  const slots = new RedisSlots(redis, { shares: () => ({ inboundReserve: 0, workspaceShare: 1 }), leaseMs: 1 })
  await slots.register({ workerId: 'w', capacity: 1, metricsUrl: '' }, 0)
  const taken = await slots.take([{ kind: 'inbound', workspaceId: boss.workspaceId }], ['w'])
  t.equal(taken?.slot, 'w/0')
  t.match(await admin('seats'), /1 seats, 0 ready, 1 taken\nw\/0 .*its holder is gone/)
  t.equal(await admin('seats', 'release', 'w/0'), 'The seat is free')
  t.match(await admin('seats'), /1 seats, 1 ready, 0 taken$/)
  await t.rejects(admin('seats', 'release', 'w/0'), { message: /no seat that is taken/ })
  const actions = await audited()
  for (const action of ['admin queue retry', 'admin queue release', 'admin seats release']) {
    t.ok(actions.includes(action), action)
  }
  await api.store.pool.query('select 1')
})

t.test('a batch says what it waits for, and its failed rows are called again; deliveries are sent again', async (t) => {
  const { api, boss, admin } = await start(t)
  const phone = await startPhone(api, boss)
  const form = new FormData()
  form.append('file', new Blob([`phone_number\n${CALLEE}\n+14155552001\n`]), 'numbers.csv')
  form.append('name', 'March')
  form.append('agent_id', phone.agentId)
  form.append('agent_phone_number', phone.number)
  const { body: batch } = await boss.client.post('/batch/upload', { form })
  await boss.client.post(`/batch/${batch.batch_id}/send`)
  t.match(await admin('batches'), `${batch.batch_id}  running  2 waiting, 0 running, 0 completed, 0 failed of 2  March`)
  t.match(await admin('batches', 'explain', batch.batch_id), 'No voice worker is linked.')
  await admin('maintenance', 'on')
  t.match(await admin('batches', 'explain', batch.batch_id), 'in maintenance')
  await admin('maintenance', 'off')
  t.equal(await admin('batches', 'retry', batch.batch_id), '0 rows are called again')
  t.match(await admin('batches', 'cancel', batch.batch_id), 'No further row is called')
  await t.rejects(admin('batches', 'retry', batch.batch_id), { message: /that is canceled has nothing/ })
  t.equal(await admin('batches'), 'none')

  const { body: webhook } = await boss.client.post('/webhooks', {
    body: { url: 'https://hooks.example.com/in?key=s3cret', types: ['*'] },
  })
  t.equal(await admin('deliveries'), 'none')
  await boss.client.post(`/webhooks/${webhook.webhook_id}/test`)
  const line = await admin('deliveries')
  t.match(line, `${webhook.webhook_id}  hooks.example.com  1 due, 0 later, 0 failed  well`)
  t.notMatch(line, 's3cret')
  t.match(await admin('deliveries', 'retry', webhook.webhook_id, '1'), /^\d+ events? (is|are) sent$/)
  await t.rejects(admin('deliveries', 'retry', webhook.webhook_id, 'x'), { message: /no number of hours/ })
})

t.test('without Redis it says where to run it', async (t) => {
  const api = await startTestApi(t)
  const options = { config: loadConfig({}), databaseUrl: api.databaseUrl }
  await t.rejects(runAdmin(['seats'], options), { message: /does not run on this data folder/ })
})

t.test('what a call waits for is named, all of it', async (t) => {
  const waiting = {
    ...({ status: 'queued', callType: 'phone', direction: 'outbound', createdAt: new Date(0) } as const),
    ...{ placedAt: null, endedAt: null, endReason: null, batchStatus: 'paused', leaseMs: undefined, nodeId: undefined },
    ...{ isQueued: false, maintenance: true, suspended: true, exhausted: '10 minutes of calls a month' },
    ...{ callsAtOnce: 2, placedCalls: 2, seats: { ready: 0, capacity: 8 } },
  }
  const said = explainCall(waiting).join('\n')
  for (const reason of [
    'maintenance',
    'suspended',
    '10 minutes',
    'batch is paused',
    '2 calls at once',
    'All 8',
    'No job',
  ]) {
    t.match(said, reason)
  }
  const free = { ...waiting, batchStatus: 'running', isQueued: true, maintenance: false, suspended: false }
  const last = explainCall({ ...free, exhausted: undefined, callsAtOnce: null, seats: { ready: 1, capacity: 8 } }).at(
    -1,
  )
  t.match(last, 'waits for its turn')
  const lost = { ...waiting, status: 'in_progress', placedAt: new Date(0), leaseMs: -4_000 }
  t.match(explainCall(lost).at(-1), /ran out 4 s ago, and no api node .*nobody holds it/)
  t.match(explainCall({ ...lost, nodeId: 'n' }).at(-1), /but api node n reports it: it is kept/)
})

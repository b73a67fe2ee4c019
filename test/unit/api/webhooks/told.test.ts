import { pino } from 'pino'
import t from 'tap'
import { openTrunkBook } from '../../../../api/trunks/book.ts'
import { systemClock } from '../../../../runtime/lib/clock.ts'
import { publishEvent } from '../../../../store/events/workspace-events.ts'
import { createRedis } from '../../../../store/redis/client.ts'
import { RedisSlots } from '../../../../store/redis/slots.ts'
import { startPeriodicJob } from '../../../../workers/rounds.ts'
import { startVoiceWatch } from '../../../../workers/voice-watch/start.ts'
import { startTestApi, type TestUser } from '../../../support/instance/api.ts'
import { startTestJobs } from '../../../support/instance/jobs.ts'
import { until } from '../../../support/instance/realtime-node.ts'
import { ownTime } from '../../../support/world/own-time.ts'
import { startReceiver } from '../../../support/world/webhook-receiver.ts'

const log = pino({ level: 'silent' })
const api = await startTestApi(t, { env: { PATCHBAY_TOOLS_ALLOW_NET: '127.0.0.1' } })
const jobs = await startTestJobs(t, api)
const redis = await createRedis(api.redisUrl, log)
t.teardown(() => redis.destroy())
/** While this process stands still it beats for no worker, and none is missed. */
const ownClock = { ...systemClock, monotonicMs: ownTime(t) }

async function receiverOf(user: TestUser, types: string[]) {
  const receiver = await startReceiver(t)
  const made = await user.client.post('/webhooks', { body: { url: receiver.url, types } })
  if (made.status !== 201) throw new Error(made.text)
  return receiver
}

t.test('a trunk that falls silent, and is back, is told once, whichever nodes see it', async (t) => {
  const user = await api.signUp()
  const receiver = await receiverOf(user, ['trunk.*'])
  const { body: made } = await user.client.post('/trunks', {
    body: { name: 'pbx', host: 'sip.example.com', allowed_addresses: ['192.0.2.0/24'] },
  })
  const open = () =>
    openTrunkBook({
      config: { ...api.config, databaseUrl: 'elsewhere' },
      store: api.store,
      redis,
      clock: systemClock,
      log,
    })
  const books = [await open(), await open()]
  t.teardown(() => Promise.all(books.map((book) => book.close())))
  const [trunk] = await books[0]!.list(AbortSignal.timeout(120_000))
  for (const book of books) book.told?.({ type: 'down', trunk: trunk!, status: 503, reason: 'Service Unavailable' })
  const down = await receiver.of('trunk.down')
  t.same(down.body.data, {
    trunk_id: made.trunk_id,
    name: 'pbx',
    host: 'sip.example.com',
    status: 503,
    reason: 'Service Unavailable',
  })
  for (const book of books) book.told?.({ type: 'up', trunk: trunk!, status: 200, reason: 'OK' })
  await receiver.of('trunk.up')
  t.equal(receiver.received.length, 2)
})

t.test('what code tells of campaigns and prospects comes as the document shows it', async (t) => {
  const user = await api.signUp()
  const receiver = await receiverOf(user, ['campaign.*', 'prospect.*'])
  const { body: document } = await api.client().get('/openapi.json')
  const examples = ['campaign.completed', 'prospect.callback_missed'].map(
    (type) => document.webhooks[type].post.requestBody.content['application/json'].example,
  )
  const tenant = api.store.tenant(user.workspaceId)
  const [completed, missed] = examples
  await publishEvent(tenant, { type: 'campaign.completed', subject: user.id, agentId: null, data: completed.data })
  await publishEvent(tenant, { type: 'prospect.callback_missed', subject: missed.data.uuid, data: missed.data })
  t.same((await receiver.of('campaign.completed')).body.data, completed.data)
  t.same((await receiver.of('prospect.callback_missed')).body.data, missed.data)
})

t.test('operators are told of voice workers that come, and of those that are gone without a word', async (t) => {
  const operator = await api.signUp()
  const other = await api.signUp()
  await api.store.pool.query('update users set is_operator = id = $1', [operator.id])
  const receiver = await receiverOf(operator, ['worker.*'])
  const deaf = await receiverOf(other, ['*'])
  const slots = new RedisSlots(redis, { shares: () => ({ inboundReserve: 0, workspaceShare: 1 }), entryMs: 8_000 })
  const beat = (workerId: string) => slots.register({ workerId, capacity: 3, metricsUrl: 'http://127.0.0.1:1' }, 0)
  // Of two that watch, one tells.
  await jobs.stop()
  const watch = { store: api.store, redis, config: {}, clock: ownClock, log, intervalMs: 50, graceMs: 1_000 }
  const watches = [startVoiceWatch(watch), startVoiceWatch(watch)]
  t.teardown(() => Promise.all(watches.map((one) => one.stop())))
  const told = async () => {
    const { rows } = await api.store.pool.query(
      `select type, data->>'worker_id' as worker from workspace_events where type like 'worker.%' and workspace_id = $1
       order by seq`,
      [operator.workspaceId],
    )
    return rows.map(({ type, worker }) => `${worker} ${type}`)
  }
  // They live until both are known. They beat whatever the database does meanwhile: what is missed is soon gone.
  const beats = async () => void (await Promise.all([beat('dies'), beat('leaves')]))
  const living = startPeriodicJob(beats, { intervalMs: 50, atOnce: true, onError: (err) => t.fail(String(err)) })
  t.teardown(() => living.stop())
  await until(async () => (await told()).length === 2)
  await living.stop()
  await slots.forget('leaves')
  await until(async () => (await told()).length === 3)
  t.same((await told()).toSorted(), ['dies worker.joined', 'dies worker.lost', 'leaves worker.joined'])
  await startTestJobs(t, api)
  t.same((await receiver.of('worker.lost')).body.data, { worker_id: 'dies', capacity: 3 })
  t.same(
    deaf.received.filter(({ body }) => body.type.startsWith('worker.')),
    [],
  )
})

t.test('a Redis that forgot its workers costs none of them a word', async (t) => {
  const operator = await api.signUp()
  await api.store.pool.query('update users set is_operator = id = $1', [operator.id])
  const slots = new RedisSlots(redis, { shares: () => ({ inboundReserve: 0, workspaceShare: 1 }) })
  const beat = () => slots.register({ workerId: 'stays', capacity: 1, metricsUrl: 'http://127.0.0.1:1' }, 0)
  await beat()
  const watch = startVoiceWatch({
    ...{ store: api.store, redis, config: {}, clock: ownClock, log },
    ...{ intervalMs: 20, graceMs: 2_000 },
  })
  t.teardown(() => watch.stop())
  const told = async () => {
    const { rows } = await api.store.pool.query('select type from workspace_events where workspace_id = $1', [
      operator.workspaceId,
    ])
    return rows.map(({ type }) => type).filter((type) => type.startsWith('worker.'))
  }
  await until(async () => (await told()).length === 1)
  await redis.flushAll()
  await new Promise((resolve) => setTimeout(resolve, 300))
  await beat()
  await new Promise((resolve) => setTimeout(resolve, 2_200))
  t.same(await told(), ['worker.joined'])
})

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { uuidv7 } from 'uuidv7'
import { createWorkerMetrics } from '../../../../runtime/conversation/worker-metrics.ts'
import { createLogger } from '../../../../runtime/process/log.ts'
import { insertCall, type NewCall } from '../../../../store/calls/calls.ts'
import { createRedis } from '../../../../store/redis/client.ts'
import { RedisSlots } from '../../../../store/redis/slots.ts'
import { startTestApi, type TestApi, type TestUser } from '../../../support/instance/api.ts'

const api: TestApi = await startTestApi(t)
const owner: TestUser = await api.signUp()
const tenant = api.store.tenant(owner.workspaceId)
const agentId = uuidv7()
const otherAgentId = uuidv7()

function call(createdAt: string, more: Partial<NewCall> = {}): Promise<unknown> {
  return insertCall(tenant, {
    agent_id: agentId,
    agent_name: 'Reception',
    call_type: 'phone',
    direction: 'outbound',
    status: 'completed',
    disposition: 'completed',
    created_at: new Date(createdAt),
    answered_at: new Date(createdAt),
    duration_ms: 10_000,
    llm_input_tokens: 60,
    llm_output_tokens: 40,
    ...more,
  })
}

t.before(async () => {
  await call('2026-03-28T23:59:59.999Z', { cost_llm: 0.1 })
  await call('2026-03-29T00:00:00.000Z', { cost_llm: 0.2, cost_stt: 0.01 })
  await call('2026-03-29T00:59:59.999Z', { duration_ms: 20_000 })
  await call('2026-03-29T01:00:00.000Z', { call_type: 'web', agent_id: otherAgentId, agent_name: 'Old name' })
  await call('2026-03-31T12:00:00.000Z', {
    answered_at: null,
    duration_ms: null,
    status: 'busy',
    disposition: 'busy',
    llm_input_tokens: 0,
    llm_output_tokens: 0,
  })
})

t.test('the dashboard sums exactly the calls of its span, edges within an hour included', async (t) => {
  const { status, body } = await owner.client.get('/reports/dashboard', {
    query: { start_date: '2026-03-29T00:00:00Z', end_date: '2026-03-31T12:00:00.001Z' },
  })
  t.equal(status, 200)
  t.equal(body.interval, 'day')
  const auto = { start_date: '2026-03-29T00:00:00Z', end_date: '2026-03-31T12:00:00.001Z', interval: 'auto' }
  t.equal((await owner.client.get('/reports/dashboard', { query: auto })).body.interval, 'day')
  const first = await owner.client.get('/reports/dashboard', { query: { end_date: '0001-01-01' } })
  t.equal(first.status, 200, 'no span begins before the first year')
  t.strictSame(body.totals, {
    total_calls: 4,
    total_duration: 40,
    avg_duration: 13.333333333,
    total_cost: 0.21,
    cost_llm: 0.2,
    cost_stt: 0.01,
    cost_tts: null,
    platform_cost: null,
    own_keys_cost: 0,
    total_tokens: 300,
    avg_tokens: 75,
  })
  t.strictSame(
    body.series.map((bucket: { start: string; total_calls: number }) => [bucket.start, bucket.total_calls]),
    [
      ['2026-03-29T00:00:00.000Z', 3],
      ['2026-03-30T00:00:00.000Z', 0],
      ['2026-03-31T00:00:00.000Z', 1],
    ],
    'empty buckets are there',
  )
  t.strictSame(
    body.by_agent.map((group: Record<string, unknown>) => [group.agent_id, group.agent_name, group.total_calls]),
    [
      [agentId, 'Reception', 3],
      [otherAgentId, 'Old name', 1],
    ],
    'an agent that is gone keeps its last name',
  )
  t.strictSame(
    body.by_call_type.map((group: Record<string, unknown>) => [group.call_type, group.total_calls]),
    [
      ['phone', 3],
      ['web', 1],
    ],
  )
})

t.test('offsets are honoured on the day the clocks change', async (t) => {
  const { body } = await owner.client.get('/reports/dashboard', {
    query: { start_date: '2026-03-29T00:00:00+01:00', end_date: '2026-03-29T04:00:00+02:00', interval: 'hour' },
  })
  t.equal(body.start_date, '2026-03-28T23:00:00.000Z')
  t.equal(body.end_date, '2026-03-29T02:00:00.000Z')
  t.strictSame(
    body.series.map((bucket: { total_calls: number }) => bucket.total_calls),
    [1, 2, 1],
  )
})

t.test('filters by agent and call type', async (t) => {
  const span = { start_date: '2026-03-01', end_date: '2026-04-01' }
  const ofAgent = await owner.client.get('/reports/dashboard', { query: { ...span, agent_id: otherAgentId } })
  t.equal(ofAgent.body.totals.total_calls, 1)
  const ofType = await owner.client.get('/reports/dashboard', { query: { ...span, call_type: 'phone' } })
  t.equal(ofType.body.totals.total_calls, 4)
  const noId = await owner.client.get('/reports/dashboard', { query: { ...span, agent_id: 'none' } })
  t.equal(noId.body.totals.total_calls, 0)
})

t.test('sums follow every change of a call', async (t) => {
  const days = { start_date: '2026-05-01', end_date: '2026-05-02' }
  const span = { ...days, fields: 'total_calls,total_duration,cost_tts' }
  await call('2026-05-01T10:10:00Z', { duration_ms: null, status: 'in_progress', disposition: null })
  const started = await owner.client.get('/reports/call-summary', { query: span })
  t.strictSame(started.body, { total_calls: 1, total_duration: 0, cost_tts: null })
  const ofDay = tenant.db.updateTable('calls').where('created_at', '>=', new Date('2026-05-01T00:00:00Z'))
  await ofDay.set({ status: 'completed', disposition: 'voicemail', duration_ms: 7000, cost_tts: 0.3 }).execute()
  const ended = await owner.client.get('/reports/call-summary', { query: span })
  t.strictSame(ended.body, { total_calls: 1, total_duration: 7, cost_tts: 0.3 })
  const { body } = await owner.client.get('/reports/disposition', { query: days })
  t.strictSame(body.dispositions, [{ disposition: 'voicemail', count: 1, percentage: 100, avg_duration: 7 }])
  await tenant.db.deleteFrom('calls').where('created_at', '>=', new Date('2026-05-01T00:00:00Z')).execute()
  const gone = await owner.client.get('/reports/call-summary', { query: span })
  t.strictSame(gone.body, { total_calls: 0, total_duration: 0, cost_tts: null })
})

t.test('dispositions have counts, shares that add up to 100 and mean lengths', async (t) => {
  const { body } = await owner.client.get('/reports/disposition', {
    query: { start_date: '2026-03-29', end_date: '2026-04-01' },
  })
  t.equal(body.total, 4)
  t.strictSame(body.dispositions, [
    { disposition: 'completed', count: 3, percentage: 75, avg_duration: 13.333333333 },
    { disposition: 'busy', count: 1, percentage: 25, avg_duration: null },
  ])
  t.match(body, { interval: null, series: [] })
})

t.test('dispositions are counted over time where an interval is asked for', async (t) => {
  const days = { start_date: '2026-03-29', end_date: '2026-04-01' }
  const { body } = await owner.client.get('/reports/disposition', { query: { ...days, interval: 'auto' } })
  t.equal(body.interval, 'day')
  t.strictSame(body.series, [
    { start: '2026-03-29T00:00:00.000Z', counts: { completed: 3 } },
    { start: '2026-03-30T00:00:00.000Z', counts: {} },
    { start: '2026-03-31T00:00:00.000Z', counts: { busy: 1 } },
  ])
  const judged = await owner.client.get('/reports/disposition', {
    query: { ...days, interval: 'week', by: 'analysis' },
  })
  t.equal(judged.status, 200, judged.text)
  t.strictSame(
    judged.body.series.map(({ counts }: { counts: object }) => counts),
    [{}, {}],
  )
  await call('2026-02-01T10:00:00Z', { analysis: { disposition: 'moved' } as never, campaign_slug: 'spring' })
  await call('2026-02-01T11:00:00Z', { campaign_slug: 'spring', disposition: 'voicemail' })
  const february = { start_date: '2026-02-01', end_date: '2026-02-02', interval: 'hour', campaign: 'spring' }
  const series = async (query: Record<string, string>) =>
    (await owner.client.get('/reports/disposition', { query })).body.series.slice(10, 12)
  t.match(await series(february), [{ counts: { completed: 1 } }, { counts: { voicemail: 1 } }])
  t.match(await series({ ...february, by: 'analysis' }), [{ counts: { moved: 1 } }, { counts: {} }])
})

t.test('wrong queries are named', async (t) => {
  const cases: [string, Record<string, string>, string, string][] = [
    ['/reports/dashboard', { interval: 'year' }, 'interval', 'enum'],
    ['/reports/dashboard', { call_type: 'fax' }, 'call_type', 'enum'],
    ['/reports/dashboard', { start_date: 'yesterday' }, 'start_date', 'datetime_parsing'],
    ['/reports/dashboard', { start_date: '2026-02-01', end_date: '2026-01-01' }, 'start_date', 'value_error'],
    ['/reports/dashboard', { start_date: '1990-01-01', interval: 'hour' }, 'interval', 'value_error'],
    ['/reports/call-summary', { fields: 'total_calls,profit' }, 'fields', 'enum'],
    ['/reports/disposition', { end_date: 'x' }, 'end_date', 'datetime_parsing'],
  ]
  for (const [path, query, field, type] of cases) {
    const { status, body } = await owner.client.get(path, { query })
    t.equal(status, 422, `${path} ${JSON.stringify(query)}`)
    t.strictSame(body.detail[0].loc, ['query', field])
    t.equal(body.detail[0].type, type)
  }
})

t.test('the last 7 days are the default', async (t) => {
  const user = await api.signUp()
  for (const daysAgo of [6, 8]) {
    await insertCall(api.store.tenant(user.workspaceId), {
      agent_id: agentId,
      agent_name: 'Reception',
      call_type: 'web',
      direction: 'inbound',
      status: 'completed',
      created_at: new Date(Date.now() - daysAgo * 86_400_000),
    })
  }
  const { body } = await user.client.get('/reports/dashboard')
  t.equal(Date.parse(body.end_date) - Date.parse(body.start_date), 7 * 86_400_000)
  t.equal(body.totals.total_calls, 1)
})

t.test('another workspace sees nothing of it, a key of this one does', async (t) => {
  const stranger = await api.signUp()
  const query = { start_date: '2026-03-01', end_date: '2026-04-01' }
  const { body } = await stranger.client.get('/reports/dashboard', { query })
  t.equal(body.totals.total_calls, 0)
  t.strictSame(body.by_agent, [])
  const keyed = await (await api.keyClient(owner)).get('/reports/call-summary', { query })
  t.equal(keyed.body.total_calls, 5)
})

t.test('the workload is read from the workers, and a silent one is unreachable', async (t) => {
  const readings = {
    state: 'ready',
    activeSessions: 3,
    cpuUtilization: 0.5,
    memoryBytes: 1e8,
    eventLoopLagMs: 2,
    eventLoopLagLimitMs: 100,
  } as const
  const metrics = createWorkerMetrics(
    { workerId: 'worker-1', pool: '' },
    () => 12,
    false,
    () => readings,
  )
  metrics.sessionOpened()
  metrics.failure('llm')
  metrics.failure('tts')
  for (const totalMs of [120, 130, 140, 900]) metrics.turn({ totalMs, endpointingMs: 100, llmMs: 5, ttsMs: 5 }, 'call')
  const server = createServer((_, response) => {
    void metrics.registry.metrics().then((page) => response.end(page))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const silent = createServer(() => {})
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  t.teardown(() => silent.closeAllConnections())
  t.teardown(() => silent.close())
  const redis = await createRedis(api.redisUrl, createLogger({ level: 'silent', name: 'test' }))
  t.teardown(() => redis.destroy())
  const metricsUrl = (of: typeof server) => `http://127.0.0.1:${(of.address() as AddressInfo).port}/metrics`
  const slots = new RedisSlots(redis, {
    shares: () => ({ inboundReserve: 0, workspaceShare: 1 }),
    // Nobody beats for them here.
    entryMs: 900_000,
  })
  await slots.register({ workerId: 'worker-1', capacity: 12, metricsUrl: metricsUrl(server) }, 0)
  await slots.register({ workerId: 'worker-2', capacity: 12, metricsUrl: metricsUrl(silent) }, 0)

  const { status, body } = await owner.client.get('/reports/workload')
  t.equal(status, 200)
  t.strictSame(body.totals, { workers: 2, active_sessions: 3, capacity: 12, utilization: 0.25 })
  const [first, second] = body.workers
  t.match(first, { worker_id: 'worker-1', state: 'ready', active_sessions: 3, capacity: 12, utilization: 0.25 })
  t.match(first, {
    cpu_utilization: 0.5,
    memory_bytes: 1e8,
    event_loop_lag_ms: 2,
    sessions_total: 1,
    failures_total: 2,
  })
  t.ok(first.turn_latency_p50_ms >= 100 && first.turn_latency_p50_ms <= 150)
  t.ok(first.turn_latency_p95_ms >= 800 && first.turn_latency_p95_ms <= 900)
  t.match(second, { worker_id: 'worker-2', state: 'unreachable', active_sessions: null })

  const stranger = await api.signUp()
  const seen = (await stranger.client.get('/reports/workload')).body.workers
  t.notMatch(JSON.stringify(seen), /worker-[12]"/, 'what hosts are called is for the operator alone')
  t.match(seen, [{ worker_id: /^worker-[0-9a-f]{12}$/ }, { worker_id: /^worker-[0-9a-f]{12}$/ }])
  const names = (workers: { worker_id: string }[]) => workers.map(({ worker_id }) => worker_id)
  t.same(names((await (await api.keyClient(owner)).get('/reports/workload')).body.workers), names(seen), 'and stays')
})

t.test('however many ask for the workload, workers are scraped once a second', async (t) => {
  let atMs = 0
  // Each node scrapes for itself.
  const api = await startTestApi(t, { nodes: 1, clock: { nowMs: () => Date.now(), monotonicMs: () => atMs } })
  const [one, other] = [await api.signUp(), await api.signUp()]
  let scrapes = 0
  const server = createServer((_, response) => {
    scrapes++
    response.end('')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const redis = await createRedis(api.redisUrl, createLogger({ level: 'silent', name: 'test' }))
  t.teardown(() => redis.destroy())
  const slots = new RedisSlots(redis, { shares: () => ({ inboundReserve: 0, workspaceShare: 1 }), entryMs: 900_000 })
  const metricsUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/metrics`
  await slots.register({ workerId: 'worker-1', capacity: 12, metricsUrl }, 0)

  const ask = (user: TestUser) => user.client.get('/reports/workload')
  const answers = await Promise.all(Array.from({ length: 40 }, (_, i) => ask(i % 2 ? one : other)))
  t.same([...new Set(answers.map(({ status, body }) => `${status} ${body.workers.length}`))], ['200 1'])
  atMs = 999
  t.equal((await ask(other)).body.scraped_at, answers[0]?.body.scraped_at)
  t.equal(scrapes, 1, 'of all workspaces together')
  atMs = 1_000
  await ask(one)
  t.equal(scrapes, 2)
})

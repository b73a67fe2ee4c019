import { setTimeout as sleep } from 'node:timers/promises'
import { Queue } from 'bullmq'
import { pino } from 'pino'
import t from 'tap'
import { createRedis } from '../../../../store/redis/client.ts'
import { countSlots, slotsByWorkspace } from '../../../../store/redis/slots.ts'
import { queueConnection } from '../../../../workers/queues.ts'
import { startTestApi } from '../../../support/instance/api.ts'
import { startTestJobs } from '../../../support/instance/jobs.ts'
import { until } from '../../../support/instance/realtime-node.ts'
import { linkWorker, startPhone } from '../../../support/phone/phone.ts'
import { anyHour } from '../../../support/world/any-hour.ts'

const SEATS = 4
const PROSPECTS = 16
const CANCELS = 24
const WAIT_MS = 400_000

t.test('whatever is canceled at whatever moment, all seats come back and the campaign goes on', async (t) => {
  const env = { PATCHBAY_CALLING_RULES: await anyHour(t), PATCHBAY_INBOUND_RESERVE: '0' }
  const api = await startTestApi(t, { env })
  const user = await api.signUp()
  const { client } = user
  const phone = await startPhone(api, user)
  await startTestJobs(t, api)
  await linkWorker(t, api, { capacity: SEATS })
  const redis = await createRedis(api.redisUrl, pino({ level: 'silent' }))
  const queue = new Queue('outbound-calls', queueConnection(redis))
  queue.on('error', () => {})
  t.teardown(async () => {
    await queue.close()
    redis.destroy()
  })
  const { body: campaign } = await client.post('/api/v/campaign/', {
    body: {
      ...{ name: 'Canceled', agent_id: phone.agentId, dialer_interval: 2, wrap_up_time: 0, stop_when: null },
      ...{ earliest_prospect_time: '00:00:00', latest_prospect_time: '23:59:59' },
      ...{ max_number_calls: 1, max_wait_time: 5 },
    },
  })
  for (let i = 0; i < PROSPECTS; i++) {
    const form = new FormData()
    form.append('primary_phone', `+1212555${2000 + i}`)
    await client.post(`/api/v/prospect/${campaign.lists[0].list_uuid}/`, { form })
  }
  let canceled = 0
  for (let n = 0; canceled < CANCELS; n++) {
    await sleep(100 + ((n * 370) % 500))
    const { rows } = await api.store.pool.query<{ id: string }>(
      "select id from calls where status in ('queued', 'ringing', 'in_progress') order by id",
    )
    const jobs = await queue.getJobs(['waiting', 'prioritized', 'delayed'])
    const call = rows[(n * 7) % Math.max(1, rows.length)]
    if (call !== undefined && n % 3 !== 0) {
      const { status } = await client.post(`/calls/${call.id}/hangup`)
      if (status < 300) canceled++
    } else if (jobs.length > 0) {
      await jobs[(n * 5) % jobs.length]?.remove().catch(() => {})
      canceled++
    }
    const { rows: left } = await api.store.pool.query("select 1 from prospects where status <> 'resolved' limit 1")
    if (left.length === 0) break
  }
  t.ok(canceled > 3, `${canceled} canceled`)
  const unresolved = async () => {
    const { body } = await client.get(`/api/v/campaign/${campaign.slug}/status/`)
    return body.prospects.unresolved
  }
  // Nobody looks after the next turn of those that wait half an hour: it is brought forward.
  const goOn = () =>
    api.store.pool.query(
      "update prospects set next_attempt_at = now() where status = 'waiting' and next_attempt_at > now()",
    )
  await until(
    async () => {
      await goOn()
      return (await unresolved()) === 0
    },
    () => 'the campaign to complete',
    WAIT_MS,
  )
  let missing: unknown
  await until(
    async () => {
      const slots = await countSlots(redis)
      const { rows } = await api.store.pool.query('select id, status, created_at from calls where ended_at is null')
      missing = { slots, held: [...(await slotsByWorkspace(redis))], calls: rows }
      return slots.ready === SEATS
    },
    () => `all seats: ${JSON.stringify(missing)}`,
    WAIT_MS,
  )
  const { rows: open } = await api.store.pool.query('select 1 from prospect_attempts where ended_at is null')
  t.same(open, [], 'every attempt ended')
  const { rows: over } = await api.store.pool.query('select phone from prospects where attempts > 1')
  t.same(over, [], 'and none was made too many')
})

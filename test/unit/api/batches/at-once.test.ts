import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import t from 'tap'
import { systemClock } from '../../../../runtime/lib/clock.ts'
import { createRedis } from '../../../../store/redis/client.ts'
import { startBatches } from '../../../../workers/batch/start.ts'
import { openQueue } from '../../../../workers/queues.ts'
import { startTestApi } from '../../../support/instance/api.ts'
import { linkWorker, startPhone } from '../../../support/phone/phone.ts'

/** Of the simulated carrier: talks. */
const CALLEE = '+14155552000'
/** No sweep comes in this test's lifetime. */
const NEVER_MS = 3_600_000

t.test('a batch that is sent, resumed or retried is called at once, and waits for no sweep', async (t) => {
  const api = await startTestApi(t)
  const log = pino({ level: 'silent' })
  const redis = await createRedis(api.redisUrl, log)
  t.teardown(() => redis.destroy())
  const { store, config } = api
  const runner = startBatches({ store, redis, clock: systemClock, log, config, sweepIntervalMs: NEVER_MS })
  t.teardown(() => runner.stop(1_000))
  const queue = openQueue('batches', redis)
  t.teardown(() => queue.close())
  await linkWorker(t, api)
  const user = await api.signUp()
  const phone = await startPhone(api, user)
  const form = new FormData()
  form.append('file', new Blob([`phone_number\n${CALLEE}\n`]), 'numbers.csv')
  form.append('name', 'March')
  form.append('agent_id', phone.agentId)
  form.append('agent_phone_number', phone.number)
  const { body: batch } = await user.client.post('/batch/upload', { form })
  const act = async (what: string) => {
    t.equal((await user.client.post(`/batch/${batch.batch_id}/${what}`)).status, 200, what)
  }
  const cap = (calls: number | null) =>
    user.client.patch(`/phone-numbers/${encodeURIComponent(phone.number)}`, { body: { max_concurrent_calls: calls } })
  const isCalled = async () => {
    for (const endMs = performance.now() + 400_000; ; await sleep(20)) {
      const { body } = await user.client.get(`/batch/${batch.batch_id}`)
      if (body.counts.pending === 0) return
      if (performance.now() > endMs) throw new Error(`Nobody is called: ${JSON.stringify(body)}`)
    }
  }

  /** A step that runs already may have looked before what follows; only the sweep repairs that. */
  const stepIsOver = async () => {
    for (const endMs = performance.now() + 60_000; await queue.has(batch.batch_id); await sleep(20)) {
      if (performance.now() > endMs) throw new Error('A step of the batch does not end')
    }
  }

  /** As if the call had failed and the batch were over. */
  const itFails = async () => {
    await stepIsOver()
    await store.pool.query("update batches set status = 'completed', failed = 1 where id = $1", [batch.batch_id])
    await store.pool.query("update batch_items set status = 'failed' where batch_id = $1", [batch.batch_id])
  }

  await act('send')
  await t.resolves(isCalled(), 'sent')

  await itFails()
  await cap(0)
  await act('retry')
  await act('pause')
  await cap(null)
  await stepIsOver()
  await act('resume')
  await t.resolves(isCalled(), 'resumed')

  await itFails()
  await act('retry')
  await t.resolves(isCalled(), 'retried')
})

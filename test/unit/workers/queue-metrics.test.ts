import { Registry } from 'prom-client'
import t from 'tap'
import { parsePrometheusText } from '../../../runtime/lib/prometheus-text.ts'
import { createLogger } from '../../../runtime/process/log.ts'
import { createRedis } from '../../../store/redis/client.ts'
import { countQueues } from '../../../workers/count-queues.ts'
import { openQueue } from '../../../workers/queues.ts'
import { testRedis } from '../../support/instance/services.ts'

t.test('the length and the age of a queue are what its jobs are', async (t) => {
  const redis = await createRedis(await testRedis(t), createLogger({ level: 'silent', name: 'test' }))
  t.teardown(() => redis.destroy())
  const registry = new Registry()
  const metrics = countQueues(registry, redis)
  t.teardown(() => metrics.close())
  const page = async () => {
    const samples = parsePrometheusText(await registry.metrics())
    return (name: string, labels: Record<string, string>) =>
      samples.find(
        (one) => one.name === name && Object.entries(labels).every(([key, value]) => one.labels[key] === value),
      )?.value
  }
  const empty = await page()
  t.equal(empty('patchbay_queue_jobs', { queue: 'documents', state: 'waiting' }), 0)
  t.equal(empty('patchbay_queue_oldest_job_age_seconds', { queue: 'documents' }), 0)

  const beganMs = Date.now()
  const documents = openQueue('documents', redis)
  t.teardown(() => documents.close())
  await documents.add({ documentId: 'one' }, { jobId: 'one', attempts: 1, backoffMs: 1 })
  await documents.add({ documentId: 'two' }, { jobId: 'two', attempts: 1, backoffMs: 1, place: 3 })
  await documents.add({ documentId: 'later' }, { jobId: 'later', attempts: 1, backoffMs: 1, delayMs: 60_000 })
  await new Promise((resolve) => setTimeout(resolve, 60))
  const full = await page()
  t.equal(full('patchbay_queue_jobs', { queue: 'documents', state: 'waiting' }), 2)
  t.equal(full('patchbay_queue_jobs', { queue: 'documents', state: 'delayed' }), 1)
  const age = full('patchbay_queue_oldest_job_age_seconds', { queue: 'documents' }) ?? 0
  t.ok(age >= 0.05 && Math.round(age * 1_000) <= Date.now() - beganMs, `${age} s`)
  t.equal(full('patchbay_queue_jobs', { queue: 'batches', state: 'waiting' }), 0)
})

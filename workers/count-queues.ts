import { Queue } from 'bullmq'
import { Gauge, type Registry } from 'prom-client'
import type { RedisClient } from '../store/redis/client.ts'
import { SHARED_QUEUES } from './queue-jobs.ts'
import { queueConnection } from './queues.ts'

const STATES = ['waiting', 'prioritized', 'active', 'delayed'] as const
const ASK_TIMEOUT_MS = 2_000

interface QueueMetrics {
  close(): Promise<void>
}

/**
 * Lengths and ages of the queues, read from Redis at each scrape: the same from whichever process is asked. A queue that can't
 * be read is missing from the page, rather than shown as empty.
 */
export function countQueues(registry: Registry, redis: RedisClient): QueueMetrics {
  const queues = SHARED_QUEUES.map((name) => ({ name, queue: new Queue(name, queueConnection(redis)) }))
  for (const { queue } of queues) queue.on('error', () => {})
  const jobs = new Gauge({
    name: 'patchbay_queue_jobs',
    help: 'Jobs by queue and state: waiting for a worker, active, or delayed until their time',
    labelNames: ['queue', 'state'],
    registers: [registry],
    collect: () => readAll(),
  })
  const oldest = new Gauge({
    name: 'patchbay_queue_oldest_job_age_seconds',
    help: 'How long the first job of the queue has waited for a worker; 0 when none waits',
    labelNames: ['queue'],
    registers: [registry],
    collect: () => readAll(),
  })
  // Both gauges are of one look at Redis.
  let reading: Promise<void> | undefined
  const readAll = (): Promise<void> => {
    reading ??= (async () => {
      jobs.reset()
      oldest.reset()
      await Promise.all(queues.map(({ name, queue }) => read(name, queue).catch(() => {})))
    })().finally(() => {
      reading = undefined
    })
    return reading
  }
  const read = async (name: string, queue: Queue): Promise<void> => {
    const asked = Promise.all([queue.getJobCounts(...STATES), queue.getJobs(['waiting', 'prioritized'], 0, 0, true)])
    const [counts, firsts] = await Promise.race([asked, lateAfter(ASK_TIMEOUT_MS)])
    const waiting = (counts.waiting ?? 0) + (counts.prioritized ?? 0)
    jobs.set({ queue: name, state: 'waiting' }, waiting)
    jobs.set({ queue: name, state: 'active' }, counts.active ?? 0)
    jobs.set({ queue: name, state: 'delayed' }, counts.delayed ?? 0)
    const since = Math.min(...firsts.flatMap((job) => (job ? [job.timestamp + (job.delay ?? 0)] : [])))
    oldest.set({ queue: name }, Number.isFinite(since) ? Math.max(0, (Date.now() - since) / 1_000) : 0)
  }
  return {
    async close() {
      await Promise.allSettled(queues.map(({ queue }) => queue.close()))
    },
  }
}

function lateAfter(timeoutMs: number): Promise<never> {
  return new Promise((_, reject) => {
    setTimeout(() => reject(new Error(`Redis did not answer within ${timeoutMs} ms`)), timeoutMs).unref()
  })
}

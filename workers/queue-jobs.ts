import { type Job, Queue } from 'bullmq'
import type { RedisClient } from '../store/redis/client.ts'
import { type QueueName, queueConnection } from './queues.ts'

/** The queues as an operator looks at them. Those of one node's files are that node's. */
export const SHARED_QUEUES = [
  'documents',
  'outbound-calls',
  'prospect-uploads',
  'batches',
  'workspace-deletion',
] as const satisfies readonly QueueName[]
export type SharedQueue = (typeof SHARED_QUEUES)[number]

const MOST = 100
const STATES = ['active', 'waiting', 'prioritized', 'delayed'] as const

export interface QueuedJob {
  readonly id: string
  readonly state: (typeof STATES)[number]
  readonly addedAtMs: number
  readonly attempts: number
  /** Why its last attempt failed; empty: none did. */
  readonly fault: string
}

interface QueueLook {
  counts(): Promise<Record<string, number>>
  /** The first ones of each state. */
  jobs(): Promise<QueuedJob[]>
  /** Has what waits for its time run now: one job, or all. Returns how many. */
  retry(jobId?: string): Promise<number>
  /** Removes a job that nobody runs: what it was for stays in the database, and is queued again from there if it still matters. */
  remove(jobId: string): Promise<'removed' | 'running' | 'unknown'>
}

/** Looks at a queue, and closes it again. */
export async function lookAtQueue<T>(
  redis: RedisClient,
  name: SharedQueue,
  work: (look: QueueLook) => Promise<T>,
): Promise<T> {
  const queue = new Queue(name, queueConnection(redis))
  queue.on('error', () => {})
  try {
    return await work(lookOf(queue))
  } finally {
    await queue.close()
  }
}

function lookOf(queue: Queue): QueueLook {
  return {
    counts: () => queue.getJobCounts(...STATES),
    async jobs() {
      const all = await Promise.all(
        STATES.map(async (state) => (await queue.getJobs(state, 0, MOST - 1, true)).map((job) => shown(job, state))),
      )
      return all.flat()
    },
    async retry(jobId) {
      const delayed = jobId === undefined ? await queue.getDelayed(0, -1) : [await queue.getJob(jobId)]
      let promoted = 0
      for (const job of delayed) {
        if (job === undefined || !(await job.isDelayed())) continue
        await job.promote()
        promoted++
      }
      return promoted
    },
    async remove(jobId) {
      const job = await queue.getJob(jobId)
      if (job === undefined) return 'unknown'
      if (await job.isActive()) return 'running'
      await job.remove()
      return 'removed'
    },
  }
}

function shown(job: Job, state: QueuedJob['state']): QueuedJob {
  const { id = '', timestamp: addedAtMs, attemptsMade: attempts, failedReason: fault = '' } = job
  return { id, state, addedAtMs, attempts, fault }
}

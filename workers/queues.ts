import { createNodeRedisClient, DelayedError, type IRedisClient, type Job, Queue, Worker } from 'bullmq'
import { boundary, inBackground } from '../runtime/lib/async/boundary.ts'
import { RedisSilentError, redisOutage } from '../store/connections/outage.ts'
import type { RedisClient } from '../store/redis/client.ts'

/** The payload of each queue's jobs: ids alone, the truth is in the database. */
export interface QueuePayloads {
  documents: { documentId: string }
  /** Consumed by api nodes, where legs live. `waitMs`: how long the call may wait for a free worker; null: any time. */
  'outbound-calls': { callId: string; workspaceId: string; waitMs: number | null }
  'prospect-uploads': { uploadId: string; workspaceId: string }
  batches: { batchId: string; workspaceId: string }
  /** One part for each node's spool, consumed by the api node that has it. */
  recordings: { callId: string; workspaceId: string }
  'workspace-deletion': { workspaceId: string }
}
export type QueueName = keyof QueuePayloads

/** The braces keep a queue's keys in one slot of a Redis cluster. */
const PREFIX = '{patchbay:queues}'
const LOCK_MS = 60_000
const MAX_STALLS = 2
const STALLED_INTERVAL_MS = 30_000
const ADD_TIMEOUT_MS = 2_000
/** Of a runner whose jobs have ended: what Redis does not take by then is lost with the connection, and done again elsewhere. */
const CLOSE_TIMEOUT_MS = 5_000
/** The library's highest number; more than that wait in the order they came. */
const MOST_PRIORITY = 2_097_151
/** After an error a worker of the library asks Redis again at once, and so without end while the reason lasts: it rests. */
const REST_MS = 1_000
const CONNECTION_CODES = new Set(['ECONNREFUSED', 'ECONNRESET', 'ENOENT', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH'])
/** The library's own. */
const CONNECTION_CLOSED = /Connection is closed/

interface JobOptions {
  /** A job with the id of one that waits or runs is not added again. */
  jobId: string
  attempts: number
  /** Before the second try; doubled for each further one, with jitter. */
  backoffMs: number
  /** Starts no sooner. */
  delayMs?: number
  /** Jobs run by place, the least first; default 0. */
  place?: number
}

export interface JobQueue<N extends QueueName> {
  /** Rejects within 2 s when Redis can't be reached. */
  add(payload: QueuePayloads[N], options: JobOptions): Promise<void>
  /** Whether a job of this id waits or runs. */
  has(jobId: string): Promise<boolean>
  close(): Promise<void>
}

/** The end that adds jobs; with `part`, to a queue of that part alone. Shares `redis`, and leaves it open. */
export function openQueue<N extends QueueName>(name: N, redis: RedisClient, part?: string): JobQueue<N> {
  const queue = new Queue(partOf(name, part), queueConnection(redis))
  // The client itself reconnects and logs.
  queue.on('error', () => {})
  return {
    async add(payload, { jobId, attempts, backoffMs, delayMs, place }) {
      const adding = queue.add(name, payload, {
        jobId,
        attempts,
        backoff: { type: 'exponential', delay: backoffMs, jitter: 0.5 },
        removeOnComplete: true,
        removeOnFail: true,
        ...(delayMs === undefined ? {} : { delay: delayMs }),
        ...(place === undefined ? {} : { priority: Math.min(place + 1, MOST_PRIORITY) }),
      })
      await within(adding, ADD_TIMEOUT_MS)
    },
    async has(jobId) {
      return (await within(queue.getJob(jobId), ADD_TIMEOUT_MS)) !== undefined
    },
    close: () => queue.close(),
  }
}

/** How a queue of the library is opened: a look at it needs no more. */
export function queueConnection(redis: RedisClient) {
  return { connection: connectionOf(redis).connection, prefix: PREFIX }
}

interface RunningJob<N extends QueueName> {
  payload: QueuePayloads[N]
  /** When it was added, by the wall clock. */
  queuedAtMs: number
  /** No try follows this one. */
  lastAttempt: boolean
  /** Aborts when the process stops before the job is done; the job is then tried again elsewhere. */
  signal: AbortSignal
}

/** Thrown by a job that can't run now: it holds no place of the runner meanwhile, and it is no failure. */
export class RescheduleJob extends Error {
  readonly delayMs: number

  constructor(delayMs: number) {
    super(`Again in ${delayMs} ms`)
    this.delayMs = delayMs
  }
}

interface JobRunner {
  /** Takes no new job, waits for the running ones, aborts those left after `graceMs`; then 5 s at most for Redis. */
  stop(graceMs: number): Promise<void>
}

interface RunnerOptions<N extends QueueName> {
  concurrency: number
  /** Runs the jobs of this part alone. */
  part?: string
  /** How long a job of a dead process is left alone; short only where running a job twice at once does no harm. */
  lockMs?: number
  onError: (error: Error, job: QueuePayloads[N] | undefined) => void
  /** Three processes died over this job: it is not tried again. */
  onPoison: (job: QueuePayloads[N]) => void
}

/** The end that runs jobs. A job whose process died is taken over by another within about a minute. */
export function runJobs<N extends QueueName>(
  name: N,
  redis: RedisClient,
  options: RunnerOptions<N>,
  run: (job: RunningJob<N>) => Promise<void>,
): JobRunner {
  const aborter = new AbortController()
  const running = new Set<Promise<void>>()
  const keeper = new WorkerKeeper(() => {
    const { connection, end } = connectionOf(redis)
    const lockMs = options.lockMs ?? LOCK_MS
    const worker = new Worker<QueuePayloads[N]>(
      partOf(name, options.part),
      async (job: Job<QueuePayloads[N]>, token) => {
        const lastAttempt = job.attemptsMade + 1 >= (job.opts.attempts ?? 1)
        const one = run({ payload: job.data, queuedAtMs: job.timestamp, lastAttempt, signal: aborter.signal }).finally(
          () => running.delete(one),
        )
        running.add(one)
        try {
          await one
        } catch (error) {
          if (!(error instanceof RescheduleJob)) throw error
          await job.moveToDelayed(Date.now() + error.delayMs, token)
          throw new DelayedError()
        }
      },
      {
        connection,
        prefix: PREFIX,
        autorun: false,
        concurrency: options.concurrency,
        lockDuration: lockMs,
        stalledInterval: Math.min(lockMs, STALLED_INTERVAL_MS),
        maxStalledCount: MAX_STALLS,
      },
    )
    worker.on(
      'error',
      boundary('queue', (error) => {
        // The client has said so already, once for all queues.
        if (!isConnectionFault(error)) options.onError(error, undefined)
      }),
    )
    worker.on(
      'failed',
      boundary('queue', (job, error) => {
        options.onError(error, job?.data)
        if (job !== undefined && job.stalledCounter > MAX_STALLS) options.onPoison(job.data)
      }),
    )
    return { worker, end }
  })
  return {
    async stop(graceMs) {
      const timer = setTimeout(() => aborter.abort(), graceMs)
      const closed = keeper.close()
      do {
        await Promise.allSettled(running)
        await within(closed, CLOSE_TIMEOUT_MS).catch(() => {})
      } while (running.size > 0)
      clearTimeout(timer)
      keeper.end()
    },
  }
}

/** Whether Redis itself can't be used, as the client and the library put it. */
function isConnectionFault(error: Error): boolean {
  const { code } = error as NodeJS.ErrnoException
  return CONNECTION_CODES.has(code ?? '') || redisOutage(error) !== undefined || CONNECTION_CLOSED.test(error.message)
}

interface KeptWorker<Payload> {
  worker: Worker<Payload>
  end(): void
}

/**
 * Keeps a BullMQ worker running through outages of Redis. One that meets an error rests a while; one whose connection
 * broke while it was made ready would never get another, and is replaced.
 */
class WorkerKeeper<Payload> {
  readonly #make: () => KeptWorker<Payload>
  readonly #rests = new Set<NodeJS.Timeout>()
  #kept: KeptWorker<Payload>
  #stopping = false

  constructor(make: () => KeptWorker<Payload>) {
    this.#make = make
    this.#kept = this.#begin()
  }

  /** Takes no new job and waits for the running ones, and for Redis, which may be away. */
  async close(): Promise<void> {
    this.#stopping = true
    for (const timer of this.#rests) clearTimeout(timer)
    await this.#kept.worker.close()
  }

  /** What is not closed by now is left. */
  end(): void {
    this.#kept.end()
  }

  #begin(): KeptWorker<Payload> {
    const kept = this.#make()
    const { worker } = kept
    worker.on(
      'error',
      boundary('queue', () => {
        // One that is not yet ready asks for nothing; resumed, it would run before it is.
        if (!worker.isRunning() || worker.isPaused()) return
        inBackground('queue', worker.pause(true))
        this.#later(() => inBackground('queue', worker.resume()))
      }),
    )
    inBackground('queue', this.#run(kept))
    return kept
  }

  async #run({ worker, end }: KeptWorker<Payload>): Promise<void> {
    try {
      await worker.waitUntilReady()
    } catch {
      await worker.close(true)
      end()
      this.#later(() => {
        this.#kept = this.#begin()
      })
      return
    }
    if (!this.#stopping) worker.run().catch((error) => worker.emit('error', error))
  }

  #later(act: () => void): void {
    if (this.#stopping) return
    const timer = setTimeout(
      boundary('queue', () => {
        this.#rests.delete(timer)
        act()
      }),
      REST_MS,
    )
    this.#rests.add(timer)
  }
}

/**
 * The same connection without a limit on how long a command may take. The library keeps the first answer of Redis for
 * good, a timeout too; a dead peer is found by the connection itself.
 */
function patient(redis: RedisClient): RedisClient {
  const client = redis.withCommandOptions({ timeout: undefined }) as RedisClient
  // Each queue looks after its connection.
  client.setMaxListeners(0)
  return client
}

interface LibraryConnection {
  connection: IRedisClient
  /** Ends those the library made of it for good: one that waits for jobs may open its own again after it was closed. */
  end(): void
}

/**
 * The connection as the library has it. The library listens to its errors only while a queue is open; an error of the client
 * that comes afterwards, or of a connection that is being closed, would be unhandled, which ends the process.
 */
function connectionOf(redis: RedisClient): LibraryConnection {
  const own = new Set<IRedisClient>()
  const heard = (connection: IRedisClient): IRedisClient => {
    connection.on('error', () => {})
    // The library's way waits for an answer of Redis, without end where the connection is broken. By then nothing is asked.
    connection.quit = async () => {
      connection.disconnect()
      return 'OK'
    }
    const duplicate = connection.duplicate.bind(connection)
    connection.duplicate = (...args) => {
      const one = heard(duplicate(...args))
      own.add(one)
      return one
    }
    return connection
  }
  return {
    connection: heard(createNodeRedisClient(patient(redis))),
    end() {
      for (const one of own) {
        // In the words by which the library knows that nothing is wrong.
        one.connect = () => Promise.reject(new Error('Connection is closed.'))
        one.disconnect()
      }
    },
  }
}

function partOf(name: QueueName, part: string | undefined): string {
  return part === undefined ? name : `${name}-${part}`
}

async function within<T>(promise: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new RedisSilentError(timeoutMs)), timeoutMs)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}

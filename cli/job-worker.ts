import { processEnvironment } from '../config/load.ts'
import { boundary } from '../runtime/lib/async/boundary.ts'
import { setPriorityBelowAudio } from '../runtime/process/priority.ts'
import { runInRealtimeToo, SERVICE_PRIORITY } from '../runtime/process/realtime.ts'
import { childRole } from './child-role.ts'
import { type Run, type Running, say } from './running.ts'

/** In real time a loop would wait for the turns of threads that V8 collects its garbage with, which are like any other. */
const JOBS_NODE_OPTIONS = ['--single-threaded-gc'] as const

/**
 * The job worker as a child process: what it does for later, a thousand webhooks a second among it, is done beside the loops that
 * carry the calls' audio, and gives way to them. Its own loop, which begins everybody's jobs, waits neither for the threads that
 * read their files nor for Postgres.
 */
export async function startJobWorker(
  options: Run,
  running: Running,
  { databaseUrl, redisUrl }: { databaseUrl: string; redisUrl: string },
): Promise<void> {
  const { jwtApiSecret, dataKey, audioFirst } = options.config
  say(options, 'Starting the job worker')
  running.jobWorker = await childRole(options, {
    name: 'Job worker',
    role: 'jobs',
    env: {
      ...processEnvironment(),
      DATABASE_URL: databaseUrl,
      // Behind Sentinels each process follows the primary by itself.
      REDIS_URL: options.config.redisUrl ?? redisUrl,
      JWT_API_SECRET: jwtApiSecret,
      PATCHBAY_DATA_KEY: dataKey,
    },
    nodeOptions: JOBS_NODE_OPTIONS,
    spawned: (child) => {
      if (audioFirst !== 'false') setPriorityBelowAudio(child.pid)
      // What starts takes what it can get of the processor: its loop comes before its threads once it serves.
      child.once(
        'message',
        boundary('process', () => {
          if (child.pid !== undefined)
            child.once('exit', boundary('process', runInRealtimeToo(child.pid, SERVICE_PRIORITY)))
        }),
      )
    },
  })
}

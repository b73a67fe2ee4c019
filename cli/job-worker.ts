import { processEnvironment } from '../config/load.ts'
import { putBehindAudio } from '../runtime/low-priority.ts'
import { childRole } from './child-role.ts'
import { type Run, type Running, say } from './running.ts'

/**
 * The job worker as a child process: what it does for later, a thousand webhooks a second among it, is done beside the loop that
 * carries the calls' audio, and gives way to it.
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
      REDIS_URL: redisUrl,
      JWT_API_SECRET: jwtApiSecret,
      PATCHBAY_DATA_KEY: dataKey,
    },
    spawned: ({ pid }) => {
      if (audioFirst !== 'false') putBehindAudio(pid)
    },
  })
}

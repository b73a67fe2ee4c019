import type { Logger } from '../../runtime/log.ts'
import type { RedisClient } from '../../store/redis/client.ts'
import { WORKER_DRAIN_CHANNEL } from '../../store/redis/worker-drain.ts'
import type { Sessions } from '../realtime/start.ts'

export interface WorkerDrains {
  stop(): void
}

/** Has this node's voice workers drain where an operator asked another node for it. */
export async function listenForWorkerDrains(
  redis: RedisClient,
  { drainWorker }: Pick<Sessions, 'drainWorker'>,
  log: Logger,
): Promise<WorkerDrains> {
  const subscriber = redis.duplicate()
  subscriber.on('error', (err) => log.warn({ err }, 'Listening for drains of workers was interrupted; reconnecting'))
  await subscriber.connect()
  await subscriber.subscribe(WORKER_DRAIN_CHANNEL, (workerId) => void drainWorker(workerId))
  return { stop: () => subscriber.destroy() }
}

import type { Logger } from '../../runtime/process/log.ts'
import type { RedisClient } from '../../store/redis/client.ts'
import { type Subscription, subscribe } from '../../store/redis/subscribe.ts'
import { WORKER_DRAIN_CHANNEL } from '../../store/redis/worker-drain.ts'
import type { Sessions } from '../realtime/start.ts'

/** Has this node's voice workers drain where an operator asked another node for it. */
export function listenForWorkerDrains(
  redis: RedisClient,
  { drainWorker }: Pick<Sessions, 'drainWorker'>,
  log: Logger,
): Promise<Subscription> {
  const what = 'Listening for drains of workers'
  return subscribe(redis, WORKER_DRAIN_CHANNEL, { what, log }, (workerId) => drainWorker(workerId))
}

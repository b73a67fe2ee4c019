import { createHash } from 'node:crypto'

/**
 * The public alias of the voice worker that serves a call: the random end of its name (workers/voice/worker-name.ts), by
 * which an operator finds it in the logs. It discloses neither host nor process.
 */
export function workerAlias(workerId: string): string {
  const random = /-([0-9a-f]{12})$/.exec(workerId)?.[1]
  return `worker-${random ?? createHash('sha256').update(workerId).digest('hex').slice(0, 12)}`
}

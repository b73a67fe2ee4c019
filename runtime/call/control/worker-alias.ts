import { createHash } from 'node:crypto'

/**
 * What whoever has a call sees of the voice worker that serves it: the random end of its name (workers/voice/worker-name.ts), by
 * which an operator finds it in the logs. It says nothing of its host and process.
 */
export function workerAlias(workerId: string): string {
  const random = /-([0-9a-f]{12})$/.exec(workerId)?.[1]
  return `worker-${random ?? createHash('sha256').update(workerId).digest('hex').slice(0, 12)}`
}

import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '../../runtime/process/log.ts'
import { isStarting, outageOf } from './outage.ts'
import { redialInMs } from './redial.ts'

/** A database that recovers after a crash takes so long at most before its operator is asked. */
const START_LIMIT_MS = 60_000

/**
 * Does the work of a start again while a store that is there is still starting, or breaks its first connections, and says so in one
 * line. A store that nobody listens for, and every other error, is thrown at once.
 */
export async function waitForStore<T>(log: Logger, work: () => Promise<T>, limitMs = START_LIMIT_MS): Promise<T> {
  const endMs = performance.now() + limitMs
  for (let failures = 1; ; failures++) {
    try {
      return await work()
    } catch (error) {
      const pauseMs = redialInMs(failures)
      if (!isStarting(error) || performance.now() + pauseMs > endMs) throw error
      const reason = outageOf(error instanceof Error && error.cause !== undefined ? error.cause : error)
      if (failures === 1) log.warn({ reason, limitMs }, 'Waiting for a store that is starting')
      await sleep(pauseMs)
    }
  }
}

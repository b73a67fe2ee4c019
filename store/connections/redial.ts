import { backoffMs } from '../../runtime/lib/async/backoff.ts'

/**
 * What connections to Postgres and Redis, those of the queues included, do when something is wrong: a connection that is silent for
 * too long, or whose server says that it can't serve it any more, is dropped and dialled again, with growing waits that differ by
 * node. What a server refused unexecuted is asked again; whatever waits meanwhile waits for a limited time.
 */

export const CONNECT_TIMEOUT_MS = 5_000
/** A peer owes an answer for this long at most; then its connection counts as dead. */
export const ANSWER_TIMEOUT_MS = 5_000
/** How often a connection that must notice a dead peer asks it. */
export const HEARTBEAT_MS = 1_000
/** A peer that is asked whether it lives, or that answers on other connections, owes an answer for this long. */
export const ALIVE_TIMEOUT_MS = 3_000
/** What can't be sent or answered for so long fails. */
export const REPEAT_FOR_MS = 5_000

/** How long to wait before the nth dial in a row. Without the random part all nodes would come back at the same moment. */
export function redialInMs(failures: number): number {
  return backoffMs(failures, { firstMs: 50, mostMs: 2_000, random: Math.random })
}

/** How often whether a store works is asked at most, and how long its answer may take: `/ready` is right within two seconds. */
export const PROBE_EVERY_MS = 1_000
export const PROBE_TIMEOUT_MS = 1_000

import { ErrorReply } from '@redis/client'
import { boundary, inBackground } from '../../runtime/lib/async/boundary.ts'
import type { Clock } from '../../runtime/lib/clock.ts'
import type { Logger } from '../../runtime/process/log.ts'
import { countLostRows } from '../../runtime/process/metrics/lost-rows.ts'
import type { RedisClient } from '../../store/redis/client.ts'
import {
  appendRequests,
  eraseRequestsWith,
  KEPT_REQUESTS,
  type StoredRequest,
  storedRequests,
} from '../../store/redis/request-log.ts'

const FLUSH_MS = 1_000
/** Over all workspaces; of one, no more than are kept need to wait. */
const MOST_WAITING = 20_000

interface RequestLogOptions {
  redis: RedisClient
  clock: Clock
  log: Logger
}

/**
 * What API keys ask for, by workspace. Noting a request costs it nothing: it waits in memory and is written with the others of
 * its second. Entries that can't be written are dropped: this is a debugging aid, not a ledger.
 */
export class RequestLog {
  readonly #options: RequestLogOptions
  /** Oldest first. */
  #waiting = new Map<string, StoredRequest[]>()
  #count = 0
  #lost = 0
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> = Promise.resolve()

  constructor(options: RequestLogOptions) {
    this.#options = options
  }

  note(workspaceId: string, request: StoredRequest): void {
    if (this.#count >= MOST_WAITING) {
      this.#lost++
      return
    }
    const list = this.#waiting.get(workspaceId)
    if (list === undefined) this.#waiting.set(workspaceId, [request])
    else list.push(request)
    this.#count++
    // Those before would be cut off as soon as they are written.
    if (list !== undefined && list.length >= 2 * KEPT_REQUESTS) this.#count -= list.splice(0, KEPT_REQUESTS).length
    this.#timer ??= setTimeout(
      boundary('http', () => inBackground('http', this.#flush())),
      FLUSH_MS,
    )
  }

  /** The workspace's, newest first, those of this node's last second included. Throws when Redis does not answer. */
  async recent(workspaceId: string): Promise<StoredRequest[]> {
    const { redis, clock } = this.#options
    await this.#flush()
    return storedRequests(redis, workspaceId, clock.nowMs())
  }

  /** Forgets the workspace's requests whose answer names something. */
  async erase(workspaceId: string, name: string): Promise<void> {
    await this.#flush()
    await eraseRequestsWith(this.#options.redis, workspaceId, name)
  }

  /** Writes what waits. */
  async stop(): Promise<void> {
    await this.#flush()
  }

  /** Resolves when everything noted so far is written or lost. */
  #flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#count > 0 || this.#lost > 0) {
      const batches = this.#waiting
      const lost = this.#lost
      this.#waiting = new Map()
      this.#count = 0
      this.#lost = 0
      this.#writing = this.#writing.then(() => this.#write(batches, lost))
    }
    return this.#writing
  }

  async #write(batches: ReadonlyMap<string, StoredRequest[]>, lost: number): Promise<void> {
    const { redis, log } = this.#options
    let missed = lost
    let fault: unknown
    let isAway = false
    for (const [workspaceId, requests] of batches) {
      // Written concurrently, not one timeout after the other; a refusal for one workspace doesn't affect others.
      const isWritten =
        !isAway &&
        (await appendRequests(redis, workspaceId, requests).then(
          () => true,
          (err) => {
            fault = err
            isAway = !(err instanceof ErrorReply)
            return false
          },
        ))
      if (!isWritten) missed += requests.length
    }
    if (missed > 0)
      countLostRows('request_log', isAway ? 'unreachable' : fault === undefined ? 'overflow' : 'refused', missed)
    if (missed > 0) log.warn({ err: fault, requests: missed }, 'Requests of API keys are missing in the request log')
  }
}

import { createHash, randomBytes } from 'node:crypto'
import type { Logger } from '../../runtime/process/log.ts'
import type { Socket, SocketHandlers } from '../../runtime/process/web-socket.ts'
import type { RedisClient } from '../../store/redis/client.ts'

/**
 * Sessions that outlive their connection. Each has one token that opens it once more and is replaced by doing so. Redis knows
 * on which api node a token's session lives, by the token's hash, so that another node can say where to go.
 */

const TOKEN = /^[A-Za-z0-9_-]{43}$/
const digestOf = (token: string): string => createHash('sha256').update(token).digest('hex')
const keyOf = (digest: string): string => `patchbay:resume:${digest}`

/** A session that takes a new connection in place of its lost one. */
export interface Resumable {
  resume(socket: Socket): SocketHandlers
}

interface ResumesOptions {
  redis: RedisClient
  /** Address under which clients reach this very node; asked each time. */
  nodeUrl(): string
  /** A session's longest life. */
  ttlMs: number
  log: Logger
}

export class Resumes {
  readonly #options: ResumesOptions
  readonly #sessions = new Map<string, Resumable>()
  readonly #digests = new Map<Resumable, string>()

  constructor(options: ResumesOptions) {
    this.#options = options
  }

  /** A new token of the session; the one before opens nothing any more. */
  issue(session: Resumable): string {
    this.forget(session)
    const token = randomBytes(32).toString('base64url')
    const digest = digestOf(token)
    this.#sessions.set(digest, session)
    this.#digests.set(session, digest)
    const { redis, ttlMs, nodeUrl, log } = this.#options
    redis.set(keyOf(digest), nodeUrl(), { expiration: { type: 'PX', value: ttlMs } }).catch((err) => {
      log.warn({ err }, 'Could not share a session; it can be resumed on this node only')
    })
    return token
  }

  /** The session of the token on this node; a second taker gets nothing. */
  take(token: string): Resumable | undefined {
    const session = this.#sessions.get(digestOf(token))
    if (session !== undefined) this.forget(session)
    return session
  }

  /** Where the session of the token lives, when that is another node. */
  async elsewhere(token: string): Promise<string | undefined> {
    if (!TOKEN.test(token)) return undefined
    const url = await this.#options.redis.get(keyOf(digestOf(token)))
    return url === null || url === this.#options.nodeUrl() ? undefined : url
  }

  /** The session is over, or its token used. */
  forget(session: Resumable): void {
    const digest = this.#digests.get(session)
    if (digest === undefined) return
    this.#digests.delete(session)
    this.#sessions.delete(digest)
    this.#options.redis.del(keyOf(digest)).catch(() => undefined)
  }
}

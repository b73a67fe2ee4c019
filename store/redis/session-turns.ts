import { createHash, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { boundary, inBackground } from '../../runtime/lib/async/boundary.ts'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import type { Logger } from '../../runtime/process/log.ts'
import type { RedisClient } from './client.ts'
import { loadScript } from './scripts/run.ts'

/** One message of a session is answered at a time, in the order they came, by whichever api nodes they came to. */

const waitScript = loadScript('wait-turn-2.lua')

const LEASE_MS = 15_000
const RENEW_MS = 4_000
const POLL_MS = 40
/** Further back in the line the turn is this many polls away at least. */
const MOST_POLLS_APART = 8
/** Messages that wait in one session, the one being answered included. */
const MAX_IN_LINE = 128
const FULL = -1

interface SessionTurn {
  /** Aborts when the turn was lost: this process was away for longer than its lease. */
  readonly lost: AbortSignal
  /** Lets the next message be answered. May be called more than once. */
  release(): void
}

/**
 * Waits in the session's line. Throws `unavailable` when the line is full, `timeout` when the turn doesn't come in time,
 * and the signal's reason.
 */
export async function takeSessionTurn(
  redis: RedisClient,
  session: readonly string[],
  { timeoutMs, signal, log }: { timeoutMs: number; signal: AbortSignal; log: Logger },
): Promise<SessionTurn> {
  const ticket = randomUUID()
  const hash = createHash('sha256').update(session.join('\0')).digest('hex')
  const keys = [`patchbay:{chat:${hash}}:line`, `patchbay:{chat:${hash}}:alive`]
  const stand = (enter: boolean) =>
    waitScript.run(redis, keys, [ticket, LEASE_MS, MAX_IN_LINE, enter ? '1' : '0']) as Promise<number>
  const leave = async () => {
    try {
      await Promise.all(keys.map((key) => redis.zRem(key, ticket)))
    } catch (err) {
      log.warn({ err }, 'Could not release a chat turn; its lease will expire')
    }
  }

  const startedMs = performance.now()
  try {
    for (let place = await stand(true); place !== 0; place = await stand(false)) {
      if (place === FULL) throw new PatchbayError('unavailable')
      if (performance.now() - startedMs > timeoutMs) {
        throw new PatchbayError('timeout', { params: { action: 'The message before this one', timeoutMs } })
      }
      // Dropped while waiting: this process was away. Its place is gone, so it says so rather than answer out of order.
      if (place < FULL) throw new PatchbayError('unavailable')
      await sleep(POLL_MS * Math.min(place, MOST_POLLS_APART), undefined, { signal })
    }
  } catch (error) {
    await leave()
    throw error
  }

  const lost = new AbortController()
  let renewedMs = performance.now()
  const renewal = setInterval(
    boundary('call', () => {
      stand(false).then(
        (place) => {
          if (place === 0) renewedMs = performance.now()
          else lost.abort(new PatchbayError('unavailable'))
        },
        (cause) => {
          log.warn({ err: cause }, 'Could not renew the lease of a chat turn yet')
          if (performance.now() - renewedMs > LEASE_MS - RENEW_MS)
            lost.abort(new PatchbayError('unavailable', { cause }))
        },
      )
    }),
    RENEW_MS,
  )
  let released = false
  return {
    lost: lost.signal,
    release() {
      if (released) return
      released = true
      clearInterval(renewal)
      inBackground('call', leave())
    },
  }
}

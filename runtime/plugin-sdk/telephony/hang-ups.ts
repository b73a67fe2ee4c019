import { setTimeout as sleep } from 'node:timers/promises'
import { backoffMs } from '../../lib/async/backoff.ts'
import { endedBy } from '../../lib/async/ended-by.ts'
import { signalWithin } from '../../lib/async/signal-within.ts'
import type { Logger } from '../../process/log.ts'
import { hangUpMetrics } from '../../process/metrics/hang-ups.ts'

/** How long a carrier may take for one request. */
const ATTEMPT_TIMEOUT_MS = 5_000
/** The pauses between requests, and how long a carrier is asked: no call runs longer unnoticed than its own limits allow. */
const PAUSES = { firstMs: 500, mostMs: 30_000, limitMs: 30 * 60_000 }
/** Beyond so many that wait at once a carrier is asked once a call. */
const MOST_PENDING = 10_000
/** What a stop waits for requests that are under way. */
const CLOSE_TIMEOUT_MS = 1_000

interface HangUpsOptions {
  log: Logger
  /** Whether it is of no use to ask again: the carrier will answer the same. */
  isFinal?: (error: unknown) => boolean
  pauses?: typeof PAUSES
}

/** Has calls ended at their carrier: asks again, in growing pauses, until the carrier has done it. */
export class HangUps {
  readonly #log: Logger
  readonly #isFinal: (error: unknown) => boolean
  readonly #pauses: typeof PAUSES
  readonly #closing = new AbortController()
  readonly #running = new Map<string, Promise<void>>()
  #pending = 0

  constructor({ log, isFinal = () => false, pauses = PAUSES }: HangUpsOptions) {
    this.#log = log
    this.#isFinal = isFinal
    this.#pauses = pauses
  }

  /**
   * Asks until `ask` resolves, half an hour at most; a call that is being ended is not asked for twice. Rejects with the last error where that
   * was in vain, and with the signal's reason where that comes first: the carrier is asked on.
   */
  end(carrierId: string, ask: (signal: AbortSignal) => Promise<void>, signal?: AbortSignal): Promise<void> {
    let running = this.#running.get(carrierId)
    if (running === undefined) {
      running = this.#ask(carrierId, ask).finally(() => this.#running.delete(carrierId))
      this.#running.set(carrierId, running)
      // Somebody may have stopped waiting; what is in vain is logged.
      running.catch(() => {})
    }
    return signal === undefined ? running : endedBy(running, signal)
  }

  /** Asks for nothing again; requests under way have a second. */
  async close(): Promise<void> {
    this.#closing.abort(new Error('The process stops'))
    await endedBy(Promise.allSettled(this.#running.values()), signalWithin(CLOSE_TIMEOUT_MS)).catch(() => {})
  }

  async #ask(carrierId: string, ask: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const { limitMs, ...pauses } = this.#pauses
    const { signal } = this.#closing
    const endMs = performance.now() + limitMs
    let isPending = false
    try {
      for (let attempts = 1; ; attempts++) {
        try {
          await ask(signalWithin(ATTEMPT_TIMEOUT_MS))
          if (attempts > 1) this.#log.info({ carrierId, attempts }, 'The carrier ended a call at last')
          return
        } catch (err) {
          const pauseMs = backoffMs(attempts, { ...pauses, random: Math.random })
          const isOver = signal.aborted || this.#isFinal(err) || performance.now() + pauseMs > endMs
          if (isOver || (!isPending && this.#pending >= MOST_PENDING)) {
            hangUpMetrics.failed.inc()
            this.#log.error({ err, carrierId, attempts }, 'The carrier did not end a call, which may still run there')
            throw err
          }
          if (!isPending) {
            isPending = true
            this.#count(1)
            this.#log.warn({ err, carrierId }, 'The carrier did not end a call; it is asked again')
          }
          await sleep(pauseMs, undefined, { signal, ref: false }).catch(() => {})
        }
      }
    } finally {
      if (isPending) this.#count(-1)
    }
  }

  #count(more: number): void {
    this.#pending += more
    hangUpMetrics.pending.inc(more)
  }
}

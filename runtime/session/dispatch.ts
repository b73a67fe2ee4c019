import { randomUUID } from 'node:crypto'
import type { RedisClient } from '../../store/redis/client.ts'
import { PatchbayError } from '../errors.ts'
import type { LinkedWorker } from '../link/api-end.ts'
import type { Logger } from '../log.ts'
import { LEASE_MS, type Leases } from './leases.ts'
import { forgetWorker, registerWorker, releaseSlot, takeSlot, workerOf } from './slots.ts'

/** Finds each session a worker: the longest idle slot of those linked and ready, first come first served on this node. */

const ENTRY_MS = 15_000
const REGISTER_MS = 5_000
/** How often a waiting session looks again when nothing on this node told it to. */
const POLL_MS = 100
const RETRY_MS = 250
/** Even a session that may not wait gets one look at the slots. */
const MIN_WAIT_MS = 250
/** Sessions that wait at once; one more ends at once. */
const MAX_WAITING = 1_000
/** A worker that said it is full is left alone this long. */
const FULL_REST_MS = 1_000

/** A slot on a linked worker. Give it back exactly once. */
export interface Seat {
  readonly worker: LinkedWorker
  /** `done`: the session is over; `full`: the worker had no room; `lost`: the worker is gone. */
  release(why: 'done' | 'full' | 'lost'): void
}

export interface DispatchOptions {
  redis: RedisClient
  leases: Leases
  workers(): LinkedWorker[]
  wrapUpMs: number
  log: Logger
}

interface Waiting {
  resolve(seat: Seat): void
  reject(error: Error): void
}

export class Dispatch {
  readonly #options: DispatchOptions
  readonly #waiting = new Set<Waiting>()
  readonly #registered = new Map<string, { atMs: number; state: string; capacity: number }>()
  #pumping = false
  #wake: (() => void) | undefined

  constructor(options: DispatchOptions) {
    this.#options = options
    // A Redis that comes back may have forgotten everything: the next beat of each worker registers it anew.
    options.redis.on('ready', this.#forgetRegistrations)
  }

  stop(): void {
    this.#options.redis.off('ready', this.#forgetRegistrations)
  }

  readonly #forgetRegistrations = (): void => this.#registered.clear()

  /** Waits for a seat up to `waitMs`, then throws `no_capacity`; throws the signal's reason when it aborts. */
  async take(waitMs: number, signal: AbortSignal): Promise<Seat> {
    signal.throwIfAborted()
    if (this.#waiting.size >= MAX_WAITING) throw new PatchbayError('no_capacity')
    let timer: NodeJS.Timeout | undefined
    let aborted: (() => void) | undefined
    let waiting: Waiting | undefined
    try {
      return await new Promise<Seat>((resolve, reject) => {
        waiting = { resolve, reject }
        this.#waiting.add(waiting)
        timer = setTimeout(() => reject(new PatchbayError('no_capacity')), Math.max(waitMs, MIN_WAIT_MS))
        aborted = () => reject(signal.reason)
        signal.addEventListener('abort', aborted, { once: true })
        void this.#pump()
      })
    } finally {
      clearTimeout(timer)
      if (aborted !== undefined) signal.removeEventListener('abort', aborted)
      if (waiting !== undefined) this.#waiting.delete(waiting)
    }
  }

  /** A worker beat: its entry and slots are renewed in time, and whoever waits may look again. */
  changed(worker: LinkedWorker, nowMs: number): void {
    const { workerId, state, capacity } = worker
    const last = this.#registered.get(workerId)
    if (last?.state === state && last.capacity === capacity && nowMs - last.atMs < REGISTER_MS) return
    this.#registered.set(workerId, { atMs: nowMs, state, capacity })
    void registerWorker(this.#options.redis, worker, worker.activeSessions, ENTRY_MS).then(
      () => this.#wake?.(),
      (err) => {
        this.#registered.delete(workerId)
        this.#options.log.warn({ err, workerId }, 'A voice worker could not be registered')
      },
    )
  }

  gone(worker: LinkedWorker, leaving: boolean): void {
    this.#registered.delete(worker.workerId)
    if (!leaving) return
    void forgetWorker(this.#options.redis, worker.workerId).catch((err) =>
      this.#options.log.warn({ err, workerId: worker.workerId }, 'A voice worker could not be forgotten'),
    )
  }

  async #pump(): Promise<void> {
    if (this.#pumping) return
    this.#pumping = true
    try {
      for (;;) {
        if (this.#waiting.size === 0) return
        const seat = await this.#takeSeat()
        const [first] = this.#waiting
        if (seat === undefined) await this.#rest()
        else if (first === undefined) seat.release('done')
        else {
          this.#waiting.delete(first)
          first.resolve(seat)
        }
      }
    } finally {
      this.#pumping = false
    }
  }

  #rest(ms = POLL_MS): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  async #takeSeat(): Promise<Seat | undefined> {
    const { redis, leases, workers, log } = this.#options
    const ready = new Map(workers().flatMap((worker) => (worker.state === 'ready' ? [[worker.workerId, worker]] : [])))
    if (ready.size === 0) return undefined
    const holder = randomUUID()
    let slot: string | undefined
    try {
      slot = await takeSlot(redis, holder, [...ready.keys()], LEASE_MS)
    } catch (err) {
      log.warn({ err }, 'No slot could be taken')
      await this.#rest(RETRY_MS)
    }
    if (slot === undefined) return undefined
    const held = { slot, holder }
    leases.holdSlot(held)
    return { worker: ready.get(workerOf(slot))!, release: (why) => this.#release(held, why) }
  }

  #release(held: { slot: string; holder: string }, why: 'done' | 'full' | 'lost'): void {
    const { redis, leases, wrapUpMs, log } = this.#options
    leases.dropSlot(held)
    const after = why === 'lost' ? 'lost' : why === 'full' ? FULL_REST_MS : wrapUpMs
    void releaseSlot(redis, held, after).then(
      () => this.#wake?.(),
      (err) => log.warn({ err, slot: held.slot }, 'A slot was not given back; its lease ends it'),
    )
  }
}

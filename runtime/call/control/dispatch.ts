import { FairQueue } from '../../admission/fair-queue.ts'
import { countRefusal } from '../../admission/refusals.ts'
import { SEAT_RANKS, type SeatKind, type SlotClaim } from '../../admission/slot-claim.ts'
import { admissionWaits } from '../../admission/waits.ts'
import { boundary, inBackground } from '../../lib/async/boundary.ts'
import { PatchbayError } from '../../lib/errors.ts'
import type { Logger } from '../../process/log.ts'
import type { LinkedWorker } from '../link/api-end.ts'
import type { Leases } from './leases.ts'
import { type HeldSlot, type Slots, type TakenSlot, workerOf } from './slots.ts'

/**
 * Finds a worker for each session: the longest idle slot of those linked and ready. Waiting sessions go by rank
 * (runtime/admission/slot-claim.ts); within a rank workspaces take turns over all api nodes, and the units of a workspace on this one.
 */

const REGISTER_MS = 5_000
/** Other nodes free slots without notifying this one. */
const POLL_MS = 100
const RETRY_MS = 250
/** Even a session that may not wait gets one look at the slots. */
const MIN_WAIT_MS = 250
/** Maximum waiting sessions of a rank; beyond it, the newest session of the workspace with the most is refused. */
const MAX_WAITING = 1_000
/** A worker that said it is full is left alone this long. */
const FULL_REST_MS = 1_000
/** How long a failed worker ranks behind the others. */
const FAILED_REST_MS = 10_000

const KIND_OF_RANK: Readonly<Record<number, SeatKind>> = {
  0: 'recovering',
  1: 'inbound',
  2: 'picked_up',
  3: 'outbound',
}

/** A worker says yes or no to a session within this, or the session is offered to another. */
export const OFFER_TIMEOUT_MS = 12_000

/** A slot on a linked worker. Give it back exactly once. */
export interface ClaimedSlot {
  readonly worker: LinkedWorker
  /** `done`: the session is over; `full`: the worker had no room; `failed`: it could not open it; `lost`: it is gone. */
  release(why: 'done' | 'full' | 'failed' | 'lost'): void
}

interface DispatchOptions {
  slots: Slots
  leases: Leases
  workers(): LinkedWorker[]
  wrapUpMs: number
  log: Logger
  /** How often waiting sessions look for slots without a local notification; default 100 ms. */
  pollMs?: number
}

interface Waiting {
  readonly claim: SlotClaim
  resolve(seat: ClaimedSlot): void
  /** Another session has the place in line. */
  reject(): void
}

const isOfPool = (worker: LinkedWorker, pool: string): boolean => (worker.pool ?? '') === pool

export class Dispatch {
  readonly #options: DispatchOptions
  /** By rank and pool. */
  readonly #waiting = new Map<string, { pool: string; rank: number; line: FairQueue<Waiting> }>()
  readonly #stopListening: () => void
  readonly #registered = new Map<string, { atMs: number; state: string; capacity: number }>()
  /** Workers that could not open a session lately: the others go first. */
  readonly #resting = new Map<string, NodeJS.Timeout>()
  #pumping = false
  /** Something changed since the last look. */
  #changed = false
  #wake: (() => void) | undefined

  constructor(options: DispatchOptions) {
    this.#options = options
    // What was forgotten the next beat of each worker registers anew.
    this.#stopListening = options.slots.onForgotten(() => this.#registered.clear())
  }

  stop(): void {
    this.#stopListening()
    for (const timer of this.#resting.values()) clearTimeout(timer)
  }

  /** Waits for a seat up to `waitMs`, then throws `no_capacity`; throws the signal's reason when it aborts. */
  async take(claim: SlotClaim, waitMs: number, signal: AbortSignal): Promise<ClaimedSlot> {
    signal.throwIfAborted()
    const line = this.#lineOf(claim)
    let timer: NodeJS.Timeout | undefined
    let aborted: (() => void) | undefined
    let waiting: Waiting | undefined
    let outcome = 'left'
    /** Already answered, but possibly still queued: a slot assigned now is given back. */
    let answered = false
    const stopTimer = admissionWaits.startTimer({ kind: claim.kind })
    try {
      const seat = await new Promise<ClaimedSlot>((resolve, reject) => {
        const leave = (reason: unknown) => {
          answered = true
          reject(reason)
        }
        const refuse = (reason: string) => {
          outcome = 'refused'
          countRefusal('seat', reason)
          leave(new PatchbayError('no_capacity'))
        }
        const seated = (seat: ClaimedSlot) => {
          if (answered) return seat.release('done')
          answered = true
          resolve(seat)
        }
        waiting = { claim, resolve: seated, reject: () => refuse('line_full') }
        const left = line.add(waiting, { workspaceId: claim.workspaceId, unit: claim.unit ?? '' })
        left?.reject()
        // Sessions that wait already don't delay a workspace that has its own turn.
        if (line.sizeOf(claim.workspaceId) === 1) this.#lookAgain()
        timer = setTimeout(
          boundary('call', () => refuse('waited_too_long')),
          Math.max(waitMs, MIN_WAIT_MS),
        )
        aborted = () => leave(signal.reason)
        signal.addEventListener('abort', boundary('call', aborted), { once: true })
        inBackground('call', this.#pump())
      })
      outcome = 'seated'
      return seat
    } finally {
      stopTimer({ outcome })
      clearTimeout(timer)
      if (aborted !== undefined) signal.removeEventListener('abort', aborted)
      if (waiting !== undefined) line.remove(waiting)
    }
  }

  /** The least busy worker of the pool, for an announcement without a slot; workers in `but` are excluded. */
  announcer(but: ReadonlySet<string>, pool = ''): LinkedWorker | undefined {
    const all = this.#options
      .workers()
      .filter((worker) => worker.state !== 'draining' && isOfPool(worker, pool) && !but.has(worker.workerId))
    return all.sort((a, b) => a.activeSessions / a.capacity - b.activeSessions / b.capacity)[0]
  }

  /** How many sessions wait on this node, by kind. */
  waiting(): Map<SeatKind, number> {
    const sums = new Map<SeatKind, number>()
    for (const { rank, line } of this.#waiting.values()) {
      const kind = KIND_OF_RANK[rank] ?? 'outbound'
      sums.set(kind, (sums.get(kind) ?? 0) + line.size)
    }
    return sums
  }

  #lineOf({ kind, pool = '' }: SlotClaim): FairQueue<Waiting> {
    const rank = SEAT_RANKS[kind]
    const key = `${rank} ${pool}`
    const known = this.#waiting.get(key)
    if (known !== undefined) return known.line
    const line = new FairQueue<Waiting>(MAX_WAITING)
    this.#waiting.set(key, { pool, rank, line })
    return line
  }

  /** A worker sent a heartbeat: renews its entry and slots, and wakes waiting sessions. */
  changed(worker: LinkedWorker, nowMs: number): void {
    const { workerId, state, capacity } = worker
    const last = this.#registered.get(workerId)
    if (last?.state === state && last.capacity === capacity && nowMs - last.atMs < REGISTER_MS) return
    this.#registered.set(workerId, { atMs: nowMs, state, capacity })
    inBackground(
      'call',
      this.#options.slots.register(worker, worker.activeSessions).then(
        () => this.#lookAgain(),
        (err) => {
          this.#registered.delete(workerId)
          this.#options.log.warn({ err, workerId }, 'Could not register a voice worker')
        },
      ),
    )
  }

  gone(worker: LinkedWorker, leaving: boolean): void {
    this.#registered.delete(worker.workerId)
    if (!leaving) return
    inBackground(
      'call',
      this.#options.slots
        .forget(worker.workerId, worker.pool)
        .catch((err) =>
          this.#options.log.warn({ err, workerId: worker.workerId }, 'Could not unregister a voice worker'),
        ),
    )
  }

  async #pump(): Promise<void> {
    if (this.#pumping) return
    this.#pumping = true
    try {
      for (;;) {
        const claims = this.#claims()
        if (claims.length === 0) return
        this.#changed = false
        const taken = await this.#takeSeat(claims)
        if (taken === undefined) {
          await this.#rest()
          continue
        }
        const next = this.#lineOf(taken.claim).nextOf(taken.claim.workspaceId)
        if (next === undefined) taken.seatFor(taken.claim).release('done')
        else next.resolve(taken.seatFor(next.claim))
      }
    } finally {
      this.#pumping = false
    }
  }

  #letRest(workerId: string): void {
    clearTimeout(this.#resting.get(workerId))
    this.#resting.set(
      workerId,
      setTimeout(
        boundary('call', () => this.#resting.delete(workerId)),
        FAILED_REST_MS,
      ),
    )
  }

  /** Resolves at the next change, or after the timeout. */
  async #rest(ms = this.#options.pollMs ?? POLL_MS): Promise<void> {
    if (this.#changed) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
    this.#wake = undefined
  }

  #lookAgain(): void {
    this.#changed = true
    this.#wake?.()
  }

  /** One for each workspace that waits on this node, of each rank. */
  #claims(): SlotClaim[] {
    return [...this.#waiting.values()].flatMap(({ pool, rank, line }) => {
      const kind = KIND_OF_RANK[rank]
      if (kind === undefined) return []
      return line.workspaceIds.map((workspaceId): SlotClaim => {
        const strategy = line.peekOf(workspaceId)?.claim.strategy
        return { workspaceId, kind, ...(pool && { pool }), ...(strategy && { strategy }) }
      })
    })
  }

  async #takeSeat(
    claims: readonly SlotClaim[],
  ): Promise<{ seatFor: (claim: SlotClaim) => ClaimedSlot; claim: SlotClaim } | undefined> {
    const { slots, leases, workers, log } = this.#options
    const ready = new Map(workers().flatMap((one) => (one.state === 'ready' ? [[one.workerId, one] as const] : [])))
    let taken: TakenSlot | undefined
    for (const [pool, ofPool] of Map.groupBy(claims, (claim) => claim.pool ?? '')) {
      const all = [...ready.values()].filter((worker) => isOfPool(worker, pool)).map(({ workerId }) => workerId)
      const rested = all.filter((workerId) => !this.#resting.has(workerId))
      if (all.length === 0) continue
      try {
        taken = await slots.take(ofPool, rested.length > 0 ? rested : all, pool)
      } catch (err) {
        log.warn({ err }, 'Could not take a slot')
        await this.#rest(RETRY_MS)
      }
      if (taken !== undefined) break
    }
    if (taken === undefined) return undefined
    const { slot, holder, pool } = taken
    const held: HeldSlot = { slot, holder, ...(pool && { pool }) }
    leases.holdSlot(held)
    const worker = ready.get(workerOf(held.slot))!
    // Whose the slot is turns out when the line is asked: its wrap-up is then known.
    const seatFor = (claim: SlotClaim): ClaimedSlot => ({
      worker,
      release: (why) => this.#release(held, why, claim.wrapUpMs),
    })
    return { seatFor, claim: taken.claim }
  }

  #release(held: HeldSlot, why: Parameters<ClaimedSlot['release']>[0], wrapUpMs = this.#options.wrapUpMs): void {
    const { slots, leases, log } = this.#options
    leases.dropSlot(held)
    if (why === 'failed') this.#letRest(workerOf(held.slot))
    const after = why === 'lost' ? 'lost' : why === 'done' ? wrapUpMs : FULL_REST_MS
    inBackground(
      'call',
      slots.release(held, after).then(
        () => this.#lookAgain(),
        (err) => log.warn({ err, slot: held.slot }, 'Could not release a slot; its lease will expire'),
      ),
    )
  }
}

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
 * Finds each session a worker: the longest idle slot of those linked and ready. Who waits goes by rank (runtime/admission/slot-claim.ts);
 * within a rank workspaces take turns over all api nodes, and the units of a workspace on this one.
 */

const REGISTER_MS = 5_000
/** Slots of other nodes come free without a word. */
const POLL_MS = 100
const RETRY_MS = 250
/** Even a session that may not wait gets one look at the slots. */
const MIN_WAIT_MS = 250
/** Sessions of a rank that wait at once; of one more the newest of whoever has most ends at once. */
const MAX_WAITING = 1_000
/** A worker that said it is full is left alone this long. */
const FULL_REST_MS = 1_000
/** So long the others are asked first. */
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

export interface DispatchOptions {
  slots: Slots
  leases: Leases
  workers(): LinkedWorker[]
  wrapUpMs: number
  log: Logger
  /** How often waiting sessions look again when nothing on this node told them to; default 100 ms. */
  pollMs?: number
}

interface Waiting {
  readonly claim: SlotClaim
  resolve(seat: ClaimedSlot): void
  /** Somebody else has the place in line. */
  reject(): void
}

export class Dispatch {
  readonly #options: DispatchOptions
  /** By rank. */
  readonly #waiting = new Map<number, FairQueue<Waiting>>()
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
    /** It has its answer, and may stand in line a moment longer: a seat that comes then is another's. */
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
        // Whoever waits already is no reason to keep a workspace waiting that has a turn of its own.
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

  /** A worker that speaks to somebody there is no seat for, the least busy one; none of `but`. */
  announcer(but: ReadonlySet<string>): LinkedWorker | undefined {
    const all = this.#options.workers().filter(({ state, workerId }) => state !== 'draining' && !but.has(workerId))
    return all.sort((a, b) => a.activeSessions / a.capacity - b.activeSessions / b.capacity)[0]
  }

  /** How many sessions wait on this node, by kind. */
  waiting(): Map<SeatKind, number> {
    return new Map([...this.#waiting].map(([rank, line]) => [KIND_OF_RANK[rank] ?? 'outbound', line.size]))
  }

  #lineOf({ kind }: SlotClaim): FairQueue<Waiting> {
    const rank = SEAT_RANKS[kind]
    const line = this.#waiting.get(rank) ?? new FairQueue<Waiting>(MAX_WAITING)
    this.#waiting.set(rank, line)
    return line
  }

  /** A worker beat: its entry and slots are renewed in time, and whoever waits may look again. */
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
          this.#options.log.warn({ err, workerId }, 'A voice worker could not be registered')
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
        .forget(worker.workerId)
        .catch((err) =>
          this.#options.log.warn({ err, workerId: worker.workerId }, 'A voice worker could not be forgotten'),
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

  /** Until something changes, at most so long. */
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
    return [...this.#waiting].flatMap(([rank, line]) => {
      const kind = KIND_OF_RANK[rank]
      if (kind === undefined) return []
      return line.workspaceIds.map((workspaceId): SlotClaim => {
        const strategy = line.peekOf(workspaceId)?.claim.strategy
        return { workspaceId, kind, ...(strategy && { strategy }) }
      })
    })
  }

  async #takeSeat(
    claims: readonly SlotClaim[],
  ): Promise<{ seatFor: (claim: SlotClaim) => ClaimedSlot; claim: SlotClaim } | undefined> {
    const { slots, leases, workers, log } = this.#options
    const all = workers().filter(({ state }) => state === 'ready')
    const rested = all.filter(({ workerId }) => !this.#resting.has(workerId))
    const ready = new Map((rested.length > 0 ? rested : all).map((worker) => [worker.workerId, worker]))
    if (ready.size === 0) return undefined
    let taken: TakenSlot | undefined
    try {
      taken = await slots.take(claims, [...ready.keys()])
    } catch (err) {
      log.warn({ err }, 'No slot could be taken')
      await this.#rest(RETRY_MS)
    }
    if (taken === undefined) return undefined
    const held = { slot: taken.slot, holder: taken.holder }
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
        (err) => log.warn({ err, slot: held.slot }, 'A slot was not given back; its lease ends it'),
      ),
    )
  }
}

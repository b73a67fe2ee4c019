import type { SlotClaim } from '../../admission/slot-claim.ts'
import { boundary, inBackground } from '../../lib/async/boundary.ts'
import type { LinkEvents, LinkSession } from '../link/api-end.ts'
import { HANDED_OFF, type OpenSession } from '../link/messages.ts'
import { type ClaimedSlot, type Dispatch, OFFER_TIMEOUT_MS } from './dispatch.ts'

interface CallWorkerOptions {
  dispatch: Dispatch
  /** Asked of the session that is to be opened. */
  events(): LinkEvents
  /** A slot taken beforehand, for the first worker. */
  reserved: ClaimedSlot | undefined
  /** The worker neither took the session nor declined it in time. */
  silent(): void
}

type Session = Omit<OpenSession, 'session'>

/** The worker of a call: its slot, and the conversation that it was offered. One after the other where workers die. */
export class CallWorker {
  readonly #options: CallWorkerOptions
  readonly #announcers = new Set<string>()
  /** Until it is used. */
  #reserved: ClaimedSlot | undefined
  #slot: ClaimedSlot | undefined
  #offered: LinkSession | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(options: CallWorkerOptions) {
    this.#options = options
    this.#reserved = options.reserved
  }

  /** Of the slot that was taken. */
  get id(): string | undefined {
    return this.#slot?.worker.workerId
  }

  /** The conversation that a worker was offered or runs. */
  get session(): LinkSession | undefined {
    return this.#offered
  }

  /** A slot: the reserved one, or another in time. Throws what `Dispatch.take` throws. The caller keeps or releases it. */
  async find(claim: SlotClaim, waitMs: number, signal: AbortSignal): Promise<ClaimedSlot> {
    return this.#takeReserved() ?? (await this.#options.dispatch.take(claim, waitMs, signal))
  }

  keep(slot: ClaimedSlot): void {
    this.#slot = slot
  }

  /** Undefined when there was none, or its worker has gone since. */
  #takeReserved(): ClaimedSlot | undefined {
    const slot = this.#reserved
    this.#reserved = undefined
    if (slot?.worker.state !== 'draining') return slot
    slot.release('done')
    return undefined
  }

  /**
   * Offers the conversation to the worker whose slot was taken.
   * @param next it takes the place of one that the worker ran in the slot
   */
  offer(session: Session, next = false): void {
    const slot = this.#slot
    if (slot === undefined) return
    this.#watch()
    const reserved = next || slot === this.#options.reserved
    this.#offered = slot.worker.open({ ...session, reserved }, this.#options.events())
  }

  /** Has the least busy worker say the announcement, without a slot. False: none is left to be asked. */
  announce(session: Session, pool: string | undefined): boolean {
    const worker = this.#options.dispatch.announcer(this.#announcers, pool)
    if (worker === undefined) return false
    this.#announcers.add(worker.workerId)
    this.#watch()
    this.#offered = worker.open({ ...session, announcement: true }, this.#options.events())
    return true
  }

  #watch(): void {
    this.#timer = setTimeout(
      boundary('call', () => this.#options.silent()),
      OFFER_TIMEOUT_MS,
    )
  }

  accepted(): void {
    clearTimeout(this.#timer)
  }

  /** Closes the conversation and keeps its slot for the next one. */
  handOff(): void {
    clearTimeout(this.#timer)
    const closed = this.#offered?.close(HANDED_OFF)
    this.#offered = undefined
    if (closed !== undefined) inBackground('call', closed)
  }

  /** Resolves when the worker has reported all usage of the session. */
  leave(why: Parameters<ClaimedSlot['release']>[0], reason: string): Promise<void> {
    clearTimeout(this.#timer)
    const closed = this.#offered?.close(reason)
    this.#offered = undefined
    this.#slot?.release(why)
    this.#slot = undefined
    return closed ?? Promise.resolve()
  }

  /** Gives up the reserved slot where it was not used. */
  end(): void {
    this.#reserved?.release('done')
    this.#reserved = undefined
  }
}

import { boundary, inBackground } from '../../lib/async/boundary.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Logger } from '../../process/log.ts'
import type { HeldSlot, Slots } from './slots.ts'

/**
 * What this api node holds: the calls whose legs it has and the slots they use, renewed while it lives and reported to a second
 * witness. A node that dies does neither, and the reaper ends its calls.
 */

export const LEASE_MS = 20_000
const RENEW_MS = 5_000
/** After a refused renewal: others may take a slot whose lease ran out as soon as writes work again. */
const RETRY_MS = 1_000
/** Renewals that failed for longer put the leases in danger. */
const RENEWALS_LATE_MS = 2 * RENEW_MS

/** The leases of calls as all api nodes share them; store/redis/call-leases.ts keeps them. */
export interface CallLeases {
  /** Leases the calls for LEASE_MS from now. */
  renew(callIds: readonly string[]): Promise<void>
  drop(callId: string): Promise<void>
}

interface LeaseOptions {
  callLeases: CallLeases
  slots: Pick<Slots, 'renew' | 'onForgotten'>
  /** Says which calls the node holds, and no others, to a store that does not fail together with the leases. */
  report(callIds: readonly string[]): Promise<void>
  /** Resolves when nothing of the call waits to be written; undefined: nothing does. */
  settled(callId: string): Promise<void> | undefined
  clock: Pick<Clock, 'monotonicMs'>
  log: Logger
}

export class Leases {
  readonly #callLeases: CallLeases
  readonly #report: LeaseOptions['report']
  readonly #slotStore: Pick<Slots, 'renew' | 'onForgotten'>
  readonly #clock: LeaseOptions['clock']
  readonly #log: Logger
  readonly #settled: LeaseOptions['settled']
  readonly #calls = new Set<string>()
  /** Calls that are over, and whose end is not yet written. */
  readonly #dropping = new Map<string, symbol>()
  readonly #slots = new Map<string, HeldSlot>()
  readonly #stopListening: () => void
  #timer: NodeJS.Timeout | undefined
  #renewing = false
  #isStopped = false
  /** Since when renewals fail. */
  #failingSinceMs: number | undefined
  #fault: string | undefined
  /** The last report named calls. */
  #hasReported = false

  constructor({ callLeases, slots, report, settled, clock, log }: LeaseOptions) {
    this.#callLeases = callLeases
    this.#slotStore = slots
    this.#report = report
    this.#settled = settled
    this.#clock = clock
    this.#log = log
    this.#renewLater(RENEW_MS)
    this.#stopListening = slots.onForgotten(() => inBackground('call', this.renew()))
  }

  /** Why the leases could not be renewed for so long that they may run out; undefined: they are renewed. */
  get fault(): string | undefined {
    const lateMs = this.#failingSinceMs === undefined ? 0 : this.#clock.monotonicMs() - this.#failingSinceMs
    return lateMs > RENEWALS_LATE_MS ? this.#fault : undefined
  }

  /** Resolves once the call is leased. */
  async holdCall(callId: string): Promise<void> {
    this.#calls.add(callId)
    this.#dropping.delete(callId)
    await this.#callLeases.renew([callId])
  }

  /**
   * Drops the lease of a call that is over, as soon as its end is written: a reaper that found it open without a lease would take its node
   * for dead. Resolves at once where that takes longer.
   */
  async dropCall(callId: string): Promise<void> {
    const dropping = Symbol(callId)
    this.#dropping.set(callId, dropping)
    const drop = async (): Promise<void> => {
      // Held anew meanwhile.
      if (this.#dropping.get(callId) !== dropping) return
      this.#dropping.delete(callId)
      this.#calls.delete(callId)
      await this.#callLeases.drop(callId)
    }
    const settled = this.#settled(callId)
    if (settled === undefined) await drop()
    else inBackground('call', settled.then(drop))
  }

  holdSlot(held: HeldSlot): void {
    this.#slots.set(held.slot, held)
  }

  dropSlot(held: HeldSlot): void {
    if (this.#slots.get(held.slot)?.holder === held.holder) this.#slots.delete(held.slot)
  }

  readonly renew = async (): Promise<void> => {
    if (this.#renewing) return
    this.#renewing = true
    const reported = this.#reportCalls()
    try {
      if (this.#calls.size > 0) await this.#callLeases.renew([...this.#calls])
      if (this.#slots.size > 0) {
        const lost = await this.#slotStore.renew([...this.#slots.values()])
        // The session continues: its worker still counts it against its own capacity.
        for (const slot of lost) this.#slots.delete(slot)
        if (lost.length > 0) this.#log.warn({ slots: lost }, 'Slots of running sessions were reassigned')
      }
      if (this.#failingSinceMs !== undefined) this.#log.info('Leases are renewed again')
      this.#failingSinceMs = undefined
    } catch (err) {
      if (this.#failingSinceMs === undefined)
        this.#log.warn({ err }, 'Could not renew leases; trying again each second')
      this.#failingSinceMs ??= this.#clock.monotonicMs()
      this.#fault = (err as Error).message
    } finally {
      await reported
      this.#renewing = false
      this.#renewLater(this.#failingSinceMs === undefined ? RENEW_MS : RETRY_MS)
    }
  }

  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#timer)
    this.#stopListening()
  }

  #renewLater(afterMs: number): void {
    clearTimeout(this.#timer)
    if (this.#isStopped) return
    this.#timer = setTimeout(
      boundary('call', () => inBackground('call', this.renew())),
      afterMs,
    )
  }

  /** The leases alone suffice where it fails. */
  async #reportCalls(): Promise<void> {
    if (this.#calls.size === 0 && !this.#hasReported) return
    const calls = [...this.#calls]
    await this.#report(calls).then(
      () => {
        this.#hasReported = calls.length > 0
      },
      (err) => this.#log.debug({ err }, 'The calls of this node could not be reported to the database'),
    )
  }
}

import { boundary, inBackground } from '../../lib/async/boundary.ts'
import type { Logger } from '../../process/log.ts'
import type { HeldSlot, Slots } from './slots.ts'

/**
 * What this api node holds: the calls whose legs it has and the slots they use, renewed while it lives. A node that dies
 * renews nothing, and the reaper ends its calls.
 */

export const LEASE_MS = 20_000
const RENEW_MS = 5_000

/** The leases of calls as all api nodes share them; store/redis/call-leases.ts keeps them. */
export interface CallLeases {
  /** Leases the calls for LEASE_MS from now. */
  renew(callIds: readonly string[]): Promise<void>
  drop(callId: string): Promise<void>
}

export class Leases {
  readonly #callLeases: CallLeases
  readonly #slotStore: Pick<Slots, 'renew' | 'onForgotten'>
  readonly #log: Logger
  readonly #calls = new Set<string>()
  readonly #slots = new Map<string, HeldSlot>()
  readonly #timer: NodeJS.Timeout
  readonly #stopListening: () => void
  #renewing = false

  constructor(callLeases: CallLeases, slots: Pick<Slots, 'renew' | 'onForgotten'>, log: Logger) {
    this.#callLeases = callLeases
    this.#slotStore = slots
    this.#log = log
    this.#timer = setInterval(
      boundary('call', () => inBackground('call', this.renew())),
      RENEW_MS,
    )
    this.#stopListening = slots.onForgotten(() => inBackground('call', this.renew()))
  }

  /** Resolves once the call is leased. */
  async holdCall(callId: string): Promise<void> {
    this.#calls.add(callId)
    await this.#callLeases.renew([callId])
  }

  async dropCall(callId: string): Promise<void> {
    this.#calls.delete(callId)
    await this.#callLeases.drop(callId)
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
    try {
      if (this.#calls.size > 0) await this.#callLeases.renew([...this.#calls])
      if (this.#slots.size > 0) {
        const lost = await this.#slotStore.renew([...this.#slots.values()])
        // The session continues: its worker still counts it against its own capacity.
        for (const slot of lost) this.#slots.delete(slot)
        if (lost.length > 0) this.#log.warn({ slots: lost }, 'Slots of running sessions were reassigned')
      }
    } catch (err) {
      this.#log.warn({ err }, 'Could not renew leases')
    } finally {
      this.#renewing = false
    }
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#stopListening()
  }
}

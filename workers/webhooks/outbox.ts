import type { DueDelivery } from '../../store/events/webhook-deliveries.ts'
import type { DeliveryWindows } from './delivery-windows.ts'
import type { DeliveryMessage } from './sender.ts'

/** A leased delivery. `message` undefined: the event was erased. */
export interface Taken {
  delivery: DueDelivery
  message: DeliveryMessage | undefined
  /** Monotonic. */
  takenAtMs: number
}

/** What was taken and waits for its receiver to have room, in order. Its size is bounded by what `Rooms.free` gives. */
export class DeliveryOutbox {
  readonly #rooms: DeliveryWindows
  readonly #send: (one: Taken) => void
  readonly #held = new Map<string, Taken[]>()
  /** Webhooks whose receivers have room, which others take. */
  readonly #blocked = new Set<string>()

  constructor(rooms: DeliveryWindows, send: (one: Taken) => void) {
    this.#rooms = rooms
    this.#send = send
  }

  /** By webhook. */
  get held(): ReadonlyMap<string, readonly Taken[]> {
    return this.#held
  }

  /** Fewer lie ready than are under way. */
  isLow(webhookId: string): boolean {
    return (this.#held.get(webhookId)?.length ?? 0) < this.#rooms.underWay(webhookId)
  }

  add(one: Taken): void {
    const { webhookId } = one.delivery
    const held = this.#held.get(webhookId) ?? []
    this.#held.set(webhookId, held)
    held.push(one)
    this.#next(webhookId)
  }

  /** One was answered. */
  left(delivery: DueDelivery): void {
    this.#rooms.left(delivery)
    this.#next(delivery.webhookId)
    // Each that was blocked may take what is free; the one that takes it goes to the end of the line.
    for (const webhookId of [...this.#blocked]) {
      this.#blocked.delete(webhookId)
      if (!this.#next(webhookId)) break
    }
  }

  /** Sends what may be sent now. False: what others send is in the way. */
  #next(webhookId: string): boolean {
    const held = this.#held.get(webhookId)
    for (;;) {
      const first = held?.[0]
      if (held === undefined || first === undefined) {
        this.#held.delete(webhookId)
        return true
      }
      const allowed = this.#rooms.allows(first.delivery)
      if (allowed === 'others') {
        this.#blocked.add(webhookId)
        return false
      }
      if (allowed === 'receiver') return true
      held.shift()
      this.#rooms.taken(first.delivery)
      this.#send(first)
    }
  }
}

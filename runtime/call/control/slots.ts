import type { SlotClaim } from '../../admission/slot-claim.ts'

/**
 * The slots of all voice workers, as all api nodes share them. A slot is `<worker>/<index>`; it is ready, taken under a lease,
 * or unknown until its worker is registered again. store/redis/slots.ts keeps them.
 */
export interface Slots {
  /**
   * Takes a ready slot of these workers for one of the claims, by its strategy: the claim whose turn it is among all that
   * wait for that pool on any node. Undefined when nothing is ready, or it is for a claim of another node.
   */
  take(claims: readonly SlotClaim[], workerIds: readonly string[], pool?: string): Promise<TakenSlot | undefined>
  /** Gives the slot back, ready again after `wrapUpMs`; `'lost'` when its worker is. False: the holder didn't hold it. */
  release(held: HeldSlot, wrapUpMs: number | 'lost'): Promise<boolean>
  /** Extends the leases; returns the slots that others hold by now. */
  renew(held: readonly HeldSlot[]): Promise<readonly string[]>
  /** Renews the worker's entry and makes the slots ready that are missing, as far as it has room for sessions. */
  register(worker: WorkerEntry, activeSessions: number): Promise<void>
  /** Forgets a worker that stops, with its ready slots. */
  forget(workerId: string, pool?: string): Promise<void>
  /** Calls the listener when everything kept may be forgotten. Returns what ends that. */
  onForgotten(listener: () => void): () => void
}

/** What is known of a live worker, from any api node. */
export interface WorkerEntry {
  workerId: string
  capacity: number
  metricsUrl: string
  /** Absent: the one without a name. */
  pool?: string
}

/** A slot and the one who holds it: a name used once. */
export interface HeldSlot {
  slot: string
  holder: string
  /** Of its worker; absent: the one without a name. */
  pool?: string
}

/** A slot and the claim that got it. */
export interface TakenSlot extends HeldSlot {
  claim: SlotClaim
}

export const workerOf = (slot: string): string => slot.slice(0, slot.lastIndexOf('/'))

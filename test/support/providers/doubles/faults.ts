/** What a double does wrong, when told to. */
export type Fault =
  /** Answers a request, or an upgrade, with this status; the body is the provider's own for it unless one is given. */
  | { kind: 'refuse'; status: number; code?: string; message?: string }
  /** Answers as it should, but only after a while. */
  | { kind: 'slow'; firstMs: number }
  /** Cuts the connection once it has sent so many messages or chunks. */
  | { kind: 'disconnect'; after: number }
  /** Puts so many frames that are no JSON, or no event, between the others. */
  | { kind: 'malformed'; count: number }
  /** Takes the request and says nothing. */
  | { kind: 'hang' }
  /** Says in its own messages that it can't go on, as its protocol has it. */
  | { kind: 'error'; status: number; code: string; message: string }

/** The fault in force, for all requests or for some. */
export class Faults {
  #fault: Fault | undefined
  #times = 0

  /** From now on, for so many requests or connections. */
  set(fault: Fault, times = Number.POSITIVE_INFINITY): void {
    this.#fault = fault
    this.#times = times
  }

  clear(): void {
    this.#fault = undefined
  }

  /** The fault of the request that comes in now. */
  take(): Fault | undefined {
    if (this.#fault === undefined || this.#times <= 0) return undefined
    this.#times--
    return this.#fault
  }
}

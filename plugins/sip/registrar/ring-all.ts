import type { DialEvents, DialFailure } from '../../../runtime/plugin-sdk/telephony/carrier.ts'

/** The most informative reason why a call was not taken. */
const BEST: readonly DialFailure[] = [
  'rejected',
  'busy',
  'no_answer',
  'hung_up',
  'blocked',
  'invalid_number',
  'carrier',
  'canceled',
]

/**
 * Several phones ring for one call: the first that is picked up has it, and the others are hung up. When none is, the
 * refusal that says most is the call's.
 */
export class RingAll {
  readonly #events: DialEvents
  readonly #hangUps: (() => void)[] = []
  readonly #failures: { failure: DialFailure; detail: string | undefined }[] = []
  #left: number
  #taken = false

  constructor(phones: number, events: DialEvents) {
    this.#left = phones
    this.#events = events
  }

  /** Events of one phone's call. `hangUp` ends that call before any answer. */
  phone(hangUp: () => void): DialEvents {
    this.#hangUps.push(hangUp)
    return {
      ringing: () => this.#taken || this.#events.ringing(),
      carrier: (figures) => this.#taken || this.#events.carrier?.(figures),
      answered: (leg, by) => {
        if (this.#taken) {
          leg.close('canceled')
          return
        }
        this.#taken = true
        for (const other of this.#hangUps) if (other !== hangUp) other()
        this.#events.answered(leg, by)
      },
      failed: (failure, detail) => {
        this.#failures.push({ failure, detail })
        this.#left--
        if (this.#left > 0 || this.#taken) return
        this.#taken = true
        const [best] = this.#failures.sort((a, b) => BEST.indexOf(a.failure) - BEST.indexOf(b.failure))
        this.#events.failed(best?.failure ?? 'carrier', best?.detail)
      },
    }
  }

  hangUp(): void {
    for (const hangUp of this.#hangUps) hangUp()
  }
}

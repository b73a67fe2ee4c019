import type { DialledEnd, DialNews } from '../../../../packages/plugin/telephony.ts'
import { boundary } from '../../../lib/async/boundary.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { AnsweredBy, DialEvents, DialFailure, DialOrder } from '../carrier.ts'
import { CALL_REJECTED, verdictOf } from '../cause.ts'
import type { StreamDialect } from './dialect.ts'
import { StreamLeg } from './leg.ts'
import type { StreamReception } from './reception.ts'

/** A call that ended may still have a stream on its way: callbacks and streams take different roads. */
const STREAM_GRACE_MS = 2_000

interface DialledCallOptions {
  dialect: StreamDialect
  order: DialOrder
  events: DialEvents
  clock: Clock
  reception: StreamReception
  /** Ends the call at the carrier. */
  complete(sid: string): void
  /** Nothing is owed to the call any more. Called once. */
  over(): void
}

/**
 * A call we asked a carrier for. Its messages come twice, late and in any order, and the stream at any moment between them:
 * the order resolves or fails exactly once.
 */
export class DialledCall {
  readonly ourNumber: string
  sid: string | undefined
  leg: StreamLeg | undefined
  token: string
  readonly #options: DialledCallOptions
  #ringing = false
  #rangAtMs: number | undefined
  /** Answered or failed. */
  #decided = false
  #over = false
  #abandoned = false
  #transferring = false
  #grace: NodeJS.Timeout | undefined

  constructor(options: DialledCallOptions) {
    this.#options = options
    this.ourNumber = options.order.from
    this.token = this.#issue()
  }

  /** The carrier took the order, or names the call in a message that overtook its answer. */
  named(sid: string): void {
    if (this.sid !== undefined || sid === '') return
    this.sid = sid
    if (this.#abandoned) this.#finish(true)
    else this.#options.events.accepted?.(sid)
  }

  /** A message of the carrier. */
  told({ carrierId, ringing, sent, over }: DialNews): void {
    this.named(carrierId)
    if (this.#over) return
    if (ringing) this.#rangAtMs ??= this.#options.clock.monotonicMs()
    if ((ringing || sent) && !this.#ringing && !this.#decided) {
      this.#ringing = true
      this.#options.events.ringing()
    }
    if (over === undefined) return
    if (this.leg !== undefined) this.leg.hangUp('caller_hangup')
    else if (over.failure === 'rejected' && !over.answered) this.#refused(over)
    else if (!over.answered) this.fail(over.failure, over.detail)
    else
      this.#grace ??= setTimeout(
        boundary('carrier', () => this.fail(over.failure, over.detail)),
        STREAM_GRACE_MS,
      )
  }

  /** Only a person whose phone rang can refuse a call. */
  #refused({ detail }: DialledEnd): void {
    const rangMs = this.#rangAtMs === undefined ? undefined : this.#options.clock.monotonicMs() - this.#rangAtMs
    const { failure, who, cause } = verdictOf({ q850: CALL_REJECTED, rangMs })
    this.#options.events.carrier?.({ releasedBy: who === 'us' ? 'patchbay' : who, cause })
    this.fail(failure, detail)
  }

  classified(by: AnsweredBy): void {
    if (!this.#over) this.#options.events.classified?.(by)
  }

  fail(failure: DialFailure, detail?: string): void {
    if (!this.#decided) {
      this.#decided = true
      this.#options.events.failed(failure, detail)
    }
    this.#finish(false)
  }

  /** We don't want the call any more. The sid to end it by; undefined while the carrier hasn't named it: then it is ended later. */
  abandon(): string | undefined {
    this.#abandoned = true
    if (this.leg !== undefined) this.leg.close('hangup')
    else if (!this.#decided) {
      this.#decided = true
      this.#options.events.failed('canceled')
    }
    if (this.sid !== undefined) this.#finish(false)
    return this.sid
  }

  /** There is no such call at the carrier. */
  forget(): void {
    this.#decided = true
    this.#finish(false)
  }

  /** A token for the next stream, when the call waits for one. */
  reissue(): string | undefined {
    if (this.leg === undefined || this.leg.isOver || this.#transferring) return undefined
    // The stream that broke off may not have been noticed yet.
    this.leg.detach()
    this.#options.reception.withdraw(this.token)
    this.token = this.#issue()
    return this.token
  }

  /** The stream that ends now is led elsewhere; the function returned takes it back. */
  transferring(): () => void {
    this.#transferring = true
    return () => {
      this.#transferring = false
    }
  }

  #issue(): string {
    return this.#options.reception.issue((carrierId) => this.#streams(carrierId))
  }

  #streams(carrierId: string): StreamLeg | undefined {
    this.named(carrierId)
    if (this.#over || this.#abandoned) return undefined
    clearTimeout(this.#grace)
    if (this.leg !== undefined) return this.leg
    if (this.#decided) return undefined
    this.#decided = true
    this.leg = new StreamLeg({
      dialect: this.#options.dialect,
      clock: this.#options.clock,
      closed: (_reason, streaming) => {
        if (!(streaming && this.#options.dialect.closingEndsCall)) this.#finish(true)
      },
      over: (lost) => {
        // A closed leg decides itself whether to call the carrier.
        if (lost) this.#finish(true)
        else queueMicrotask(boundary('carrier', () => this.#finish(false)))
      },
    })
    const { leg } = this
    // The stream is attached by the time the session starts it.
    queueMicrotask(boundary('carrier', () => this.#options.events.answered(leg, 'unknown')))
    return leg
  }

  #finish(complete: boolean): void {
    if (this.#over) return
    this.#over = true
    clearTimeout(this.#grace)
    this.#options.reception.withdraw(this.token)
    if (complete && this.sid !== undefined) this.#options.complete(this.sid)
    this.#options.over()
  }
}

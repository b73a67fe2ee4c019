import type { SlotClaim } from '../../admission/slot-claim.ts'
import { boundary } from '../../lib/async/boundary.ts'
import type { AnsweredBy } from '../../plugin-sdk/telephony/carrier.ts'
import type { EventOf, SupervisorEvent } from '../log/events.ts'
import type { CallState } from '../log/fold.ts'
import type { PageCall, PageResult } from '../types/leg.ts'
import type { Outcome } from '../types/outcome.ts'
import type { ClaimedSlot } from './dispatch.ts'
import { LiveCall, type LiveCallOptions } from './live-call.ts'
import type { Supervision } from './supervision.ts'
import type { TransferOrder, TransferResult } from './transfer.ts'

type PerCall = 'callId' | 'claim' | 'agent' | 'limits' | 'leg' | 'journal' | 'seat' | 'before'

/** The calls of this node: started, counted, and drained when the node stops. */
export class Calls {
  readonly #shared: Omit<LiveCallOptions, PerCall>
  readonly #live = new Map<string, LiveCall>()

  constructor(shared: Omit<LiveCallOptions, PerCall>) {
    this.#shared = shared
  }

  get size(): number {
    return this.#live.size
  }

  /** Joins the leg to an agent. Resolves when the call is over and written down. */
  start(call: Pick<LiveCallOptions, PerCall>): Promise<Outcome> {
    const live = new LiveCall({ ...this.#shared, ...call })
    this.#live.set(live.callId, live)
    return live.done.finally(() => this.#live.delete(live.callId))
  }

  /** Takes a slot for a call that is still to come; the caller of this method starts the call with it or releases it. */
  reserve(claim: SlotClaim, waitMs: number, signal: AbortSignal): Promise<ClaimedSlot> {
    return this.#shared.dispatch.take(claim, waitMs, signal)
  }

  /** Leases a call that has no leg yet, so that no other node ends it while this one lives. */
  hold(callId: string): Promise<void> {
    return this.#shared.leases.holdCall(callId)
  }

  /** Ends the lease of a call that got no leg. */
  drop(callId: string): Promise<void> {
    return this.#shared.leases.dropCall(callId)
  }

  /** The carrier says who picked up. */
  classified(callId: string, by: AnsweredBy): void {
    this.#live.get(callId)?.classified(by)
  }

  /** Where supervisors listen to a call; undefined when the call is on another node. */
  supervision(callId: string): Supervision | undefined {
    return this.#live.get(callId)?.supervision
  }

  /** A supervisor did something to the call: it goes into its log, and to its worker. False: no call of this node that talks. */
  supervised(callId: string, event: SupervisorEvent): boolean {
    return this.#live.get(callId)?.supervised(event) ?? false
  }

  /** Leads the caller to another human; undefined when the call isn't one of this node's. */
  transfer(callId: string, order: TransferOrder): Promise<TransferResult> | undefined {
    return this.#live.get(callId)?.transfer(order)
  }

  /** Sends DTMF on a call's line. False when the call is on another node, or its line has no DTMF. */
  sendDtmf(callId: string, keys: string): boolean {
    const leg = this.#live.get(callId)?.leg
    if (leg?.sendDtmf === undefined) return false
    leg.sendDtmf(keys)
    return true
  }

  /** Calls a function of the caller's page; undefined when the call is on another node, or has no page. */
  callPage(callId: string, call: PageCall): Promise<PageResult> | undefined {
    return this.#live.get(callId)?.leg.callPage?.(call)
  }

  /** Notes what went wrong in a call, for its log. */
  fault(callId: string, stage: EventOf<'fault'>['stage'], message: string): void {
    this.#live.get(callId)?.log.append({ type: 'fault', stage, sentence: message })
  }

  /** What happened so far in a call of this node. */
  stateOf(callId: string): CallState | undefined {
    return this.#live.get(callId)?.log.state
  }

  /** Ends the call. `who`: for its log. False when it isn't one of this node's. */
  hangUp(callId: string, who?: EventOf<'hung_up'>['who']): boolean {
    const live = this.#live.get(callId)
    live?.hangUp(who)
    return live !== undefined
  }

  /** Waits for the running calls, ends those left after `graceMs`, and resolves when all are written down. */
  async drain(graceMs: number): Promise<void> {
    const all = Promise.all([...this.#live.values()].map((call) => call.done))
    const timer = setTimeout(
      boundary('call', () => {
        for (const call of [...this.#live.values()]) call.shutDown()
      }),
      graceMs,
    )
    await all
    clearTimeout(timer)
  }
}

import type { SlotClaim } from '../../runtime/admission/slot-claim.ts'
import type { ClaimedSlot } from '../../runtime/call/control/dispatch.ts'
import type { CallLog } from '../../runtime/call/log/call-log.ts'
import { endUnconnectedCall } from '../../runtime/call/log/unconnected-call.ts'
import { countryOfNumber } from '../../runtime/dialing/country-of-number.ts'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { parsePhoneNumber } from '../../runtime/lib/phone-number.ts'
import { formatDestination, readDestination } from '../../runtime/plugin-sdk/telephony/destination.ts'
import {
  AGENT_GONE,
  type DialOutcome,
  MAINTENANCE,
  NO_CAPACITY,
  NUMBER_FULL,
  notServed,
  outcomeOfFailure,
  SHUTDOWN,
  skippedFor,
  WORKSPACE_FULL,
} from '../../runtime/plugin-sdk/telephony/outcome.ts'
import { type ServedAgent, servedAgent } from '../../store/agents/served-agents.ts'
import { type CallToPlace, findCallToPlace, markPlaced } from '../../store/calls/outbound-calls.ts'
import { extensionByName } from '../../store/telephony/extensions.ts'
import { workerPoolOf } from '../../store/workspaces/worker-pools.ts'
import type { DialCheck } from '../../workers/dialer/before-dial.ts'
import { RescheduleJob } from '../../workers/queues.ts'
import { Dialling, type DialOptions, type PlacedCall } from './dialling.ts'

interface PlacerOptions extends DialOptions {
  mayDial: DialCheck
}

/** Batches and campaigns are a workspace's units, which take turns; its single calls are one together. */
function claimOf({ call, wrapUpMs, strategy }: CallToPlace, pool: string): SlotClaim {
  const { workspace_id, batch_id, campaign_slug, seat_share } = call
  const unit = batch_id === null ? (campaign_slug === null ? '' : `campaign:${campaign_slug}`) : `batch:${batch_id}`
  return {
    kind: seat_share === null ? 'outbound' : 'picked_up',
    workspaceId: workspace_id,
    unit,
    pool,
    ...(wrapUpMs !== undefined && { wrapUpMs }),
    ...(strategy && { strategy }),
  }
}

/** How often a call that waits for a place of its workspace asks again. */
const QUOTA_POLL_MS = 500
/** The same for a call of a batch or campaign, for which room was there when its row was taken. */
const ROW_POLL_MS = 1_000
const ROW_SEAT_WAIT_MS = 5_000

/**
 * Places the outbound calls that this api node takes from the queue: a place and a seat first, then the carrier, then the
 * session. A call dialled without a seat gets one at the answer.
 */
export class Placer {
  readonly #options: PlacerOptions
  readonly #dialling = new Map<string, Dialling>()
  /** A job that lost its lock in a stall is run again beside itself: the call is placed once, and keeps its lease. */
  readonly #placing = new Map<string, Promise<void>>()

  constructor(options: PlacerOptions) {
    this.#options = options
  }

  /**
   * Resolves when the carrier has the order, or the call is over without one, or its batch rests. A call is dialled once,
   * however often and wherever this is called. Throws `RescheduleJob` when there is no place for it now, and the signal's reason when it
   * aborts before the carrier was asked.
   * @param untilMs when it ends with no_capacity, by the wall clock; undefined: it waits as long as it takes
   */
  place(callId: string, workspaceId: string, untilMs: number | undefined, signal: AbortSignal): Promise<void> {
    const already = this.#placing.get(callId)
    if (already !== undefined) return already
    const placing = this.#place(callId, workspaceId, untilMs, signal).finally(() => this.#placing.delete(callId))
    this.#placing.set(callId, placing)
    return placing
  }

  async #place(callId: string, workspaceId: string, untilMs: number | undefined, signal: AbortSignal): Promise<void> {
    const { store, calls, clock } = this.#options
    const tenant = store.tenant(workspaceId)
    const found = await findCallToPlace(tenant, callId)
    if (found === undefined) return
    const { agent, provider } = found
    const from = parsePhoneNumber(found.call.from_number ?? '')
    const to = readDestination(found.call.to_number ?? '')
    if (agent === undefined || provider === undefined || from === undefined || to === undefined) {
      return this.#end(workspaceId, callId, AGENT_GONE)
    }
    const toExtension = to.kind === 'name' && (await extensionByName(tenant, to.name)) !== undefined
    await this.#waitForTurn(provider, signal)
    const pool = await workerPoolOf(store, { agentId: agent.id, workspaceId, number: from })
    const claim = claimOf(found, pool)
    const full = await this.#takePlace(found)
    if (full !== undefined) {
      if (untilMs !== undefined && clock.nowMs() >= untilMs) return this.#end(workspaceId, callId, full)
      throw new RescheduleJob(untilMs === undefined ? ROW_POLL_MS : QUOTA_POLL_MS)
    }
    let seat: ClaimedSlot | undefined
    try {
      const waitMs = untilMs === undefined ? ROW_SEAT_WAIT_MS : untilMs - clock.nowMs()
      if (found.call.seat_share === null) seat = await calls.reserve(claim, waitMs, signal)
    } catch (error) {
      this.#options.quotas.release(callId)
      if (!(error instanceof PatchbayError) || error.code !== 'no_capacity') throw error
      if (untilMs === undefined) throw new RescheduleJob(ROW_POLL_MS)
      return this.#end(workspaceId, callId, NO_CAPACITY)
    }
    try {
      // From here on the reaper leaves the call to this node; the mark keeps all others from dialling it.
      await calls.hold(callId)
      const refuse = (outcome: DialOutcome): Promise<void> => {
        seat?.release('done')
        this.#options.quotas.release(callId)
        return this.#end(workspaceId, callId, outcome)
      }
      const refusal = await this.#options.mayDial(tenant, found.call, signal)
      if (refusal !== undefined) return refuse(skippedFor(refusal.reason, refusal.sentence))
      const { dynamic_variables: variables, campaign_slug: campaign } = found.call
      const contact = found.call.to_number
      const facts = { callId, channel: 'phone', contact, calledNumber: contact, campaign, variables } as const
      const served = await servedAgent(store, workspaceId, agent, { ...facts, country: countryOfNumber(contact) })
      if ('refused' in served) return refuse(notServed(served.refused))
      if (await markPlaced(tenant, callId, new Date(clock.nowMs()))) {
        const target = { from, to: formatDestination(to), toExtension }
        return this.#dial({ ...found, agent: served.agent, provider }, target, { seat, claim })
      }
    } catch (error) {
      await this.#giveBack(callId, seat)
      throw error
    }
    await this.#giveBack(callId, seat)
  }

  /** Hangs up a call that still rings. False when it isn't one of this node's. */
  hangUp(callId: string): boolean {
    const dialling = this.#dialling.get(callId)
    dialling?.cancel(outcomeOfFailure('canceled'))
    return dialling !== undefined
  }

  /** Resolves when nothing rings any more, or after `graceMs`. */
  async settled(graceMs: number): Promise<void> {
    if (this.#dialling.size === 0) return
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, graceMs)
    })
    await Promise.race([late, Promise.all([...this.#dialling.values()].map(({ done }) => done))])
    clearTimeout(timer)
  }

  /** Calls that were dialled and not answered yet. */
  get ringing(): number {
    return this.#dialling.size
  }

  /** Hangs up all ringing calls. */
  async stop(): Promise<void> {
    const all = [...this.#dialling.values()]
    for (const dialling of all) dialling.cancel(SHUTDOWN)
    await Promise.all(all.map(({ done }) => done))
  }

  #dial(
    found: CallToPlace & { agent: ServedAgent; provider: string },
    target: Pick<PlacedCall, 'from' | 'to' | 'toExtension'>,
    { seat, claim }: { seat: ClaimedSlot | undefined; claim: SlotClaim },
  ): Promise<void> {
    const { id: callId, workspace_id: workspaceId } = found.call
    const dialling = new Dialling(this.#options, {
      ...target,
      ...{ found, seat, claim },
      decided: () => this.#dialling.delete(callId),
      end: (outcome, log) => this.#end(workspaceId, callId, outcome, log),
    })
    this.#dialling.set(callId, dialling)
    return dialling.start()
  }

  /** A carrier that can't be made is found out when it is to dial. */
  async #waitForTurn(provider: string, signal: AbortSignal): Promise<void> {
    const carrier = await this.#options.carriers.get(provider).catch(() => undefined)
    await carrier?.turn?.(signal)
  }

  /** Takes a place under the concurrency limits of its workspace and number; resolves with the call's end when full. */
  async #takePlace({ call }: CallToPlace): Promise<DialOutcome | undefined> {
    const number = call.from_number ?? ''
    const claim = { kind: 'phone', callId: call.id, workspaceId: call.workspace_id, number } as const
    const place = await this.#options.quotas.take(claim)
    if (place === 'taken') return undefined
    return { number_full: NUMBER_FULL, workspace_full: WORKSPACE_FULL, maintenance: MAINTENANCE }[place]
  }

  async #giveBack(callId: string, seat: ClaimedSlot | undefined): Promise<void> {
    seat?.release('done')
    this.#options.quotas.release(callId)
    await this.#options.calls.drop(callId)
  }

  /** Writes the end, and lets the call go. */
  async #end(workspaceId: string, callId: string, outcome: DialOutcome, events?: CallLog): Promise<void> {
    const { calls, clock, log, journalOf } = this.#options
    log.info({ callId, ...outcome }, 'Call ended')
    await endUnconnectedCall(clock, journalOf(workspaceId), callId, outcome, events)
    await calls.drop(callId).catch((err) => log.warn({ err, callId }, 'Could not drop the lease of an ended call'))
  }
}

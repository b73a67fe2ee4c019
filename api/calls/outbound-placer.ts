import type { SlotClaim } from '../../runtime/admission/slot-claim.ts'
import type { Calls } from '../../runtime/call/control/calls.ts'
import type { ClaimedSlot } from '../../runtime/call/control/dispatch.ts'
import type { Quotas } from '../../runtime/call/control/quotas.ts'
import { CallLog } from '../../runtime/call/log/call-log.ts'
import type { CallJournal } from '../../runtime/call/log/journal.ts'
import { logUnconnectedCall } from '../../runtime/call/log/unconnected-call.ts'
import { carrierEvent } from '../../runtime/call/path.ts'
import type { AgentSpec, SessionLimits } from '../../runtime/call/types/agent-spec.ts'
import type { Leg } from '../../runtime/call/types/leg.ts'
import type { Carriers } from '../../runtime/dialing/carriers.ts'
import { boundary, inBackground } from '../../runtime/lib/async/boundary.ts'
import { signalWithin } from '../../runtime/lib/async/signal-within.ts'
import type { Clock } from '../../runtime/lib/clock.ts'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { type PhoneNumber, parsePhoneNumber } from '../../runtime/lib/phone-number.ts'
import { type AnsweredBy, type Carrier, CarrierFault } from '../../runtime/plugin-sdk/telephony/carrier.ts'
import {
  AGENT_GONE,
  badAgent,
  type DialOutcome,
  NO_CAPACITY,
  NUMBER_FULL,
  notServed,
  outcomeOfFailure,
  SHUTDOWN,
  skippedFor,
  VOICEMAIL,
  WORKSPACE_FULL,
} from '../../runtime/plugin-sdk/telephony/outcome.ts'
import type { Logger } from '../../runtime/process/log.ts'
import { type ServedAgent, servedAgent } from '../../store/agents/served-agents.ts'
import { writeEnd } from '../../store/calls/call-writes.ts'
import {
  type CallToPlace,
  findCallToPlace,
  markPickedUp,
  markPlaced,
  writeCarrierId,
} from '../../store/calls/outbound-calls.ts'
import type { Store } from '../../store/database/database.ts'
import type { Tenant } from '../../store/database/tenant.ts'
import { hasReadyDocuments } from '../../store/knowledge/documents.ts'
import { workspaceName } from '../../store/workspaces/workspaces.ts'
import type { DialCheck } from '../../workers/dialer/before-dial.ts'
import { RescheduleJob } from '../../workers/queues.ts'
import { limitsOf } from '../agents/speech.ts'
import { abandonedCall } from '../campaigns/abandoned-call.ts'
import { campaignToolSpecs } from '../campaigns/tools.ts'
import { agentSpec } from '../realtime/agent-spec.ts'
import type { McpTools } from '../tools/mcp-tools.ts'

export interface PlacerOptions {
  store: Store
  calls: Calls
  quotas: Quotas
  carriers: Carriers
  journalOf(workspaceId: string): CallJournal
  limits: SessionLimits
  ringTimeoutMs: number
  mayDial: DialCheck
  mcpTools: Pick<McpTools, 'complete'>
  clock: Clock
  log: Logger
}

/** A call that was dialled and not answered yet. */
interface Dialling {
  cancel(outcome: DialOutcome): void
  readonly done: Promise<void>
}

const CARRIER_TIMEOUT_MS = 10_000
/** Safety limit for carriers that don't end the ringing themselves. */
const RING_MARGIN_MS = 65_000

/** Batches and campaigns are a workspace's units, which take turns; its single calls are one together. */
function claimOf({ call, wrapUpMs, strategy }: CallToPlace): SlotClaim {
  const { workspace_id, batch_id, campaign_slug, seat_share } = call
  const unit = batch_id === null ? (campaign_slug === null ? '' : `campaign:${campaign_slug}`) : `batch:${batch_id}`
  return {
    kind: seat_share === null ? 'outbound' : 'picked_up',
    workspaceId: workspace_id,
    unit,
    ...(wrapUpMs !== undefined && { wrapUpMs }),
    ...(strategy && { strategy }),
  }
}

/** A callee without an agent within two seconds was abandoned: the rest of that time is for the voice. */
const PICKED_UP_WAIT_MS = 1_600

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
    const [from, to] = [found.call.from_number, found.call.to_number].map((text) => parsePhoneNumber(text ?? ''))
    if (agent === undefined || provider === undefined || from === undefined || to === undefined) {
      return this.#end(tenant, workspaceId, callId, AGENT_GONE)
    }
    await this.#waitForTurn(provider, signal)
    const full = await this.#takePlace(found)
    if (full !== undefined) {
      if (untilMs !== undefined && clock.nowMs() >= untilMs) return this.#end(tenant, workspaceId, callId, full)
      throw new RescheduleJob(untilMs === undefined ? ROW_POLL_MS : QUOTA_POLL_MS)
    }
    let seat: ClaimedSlot | undefined
    try {
      const waitMs = untilMs === undefined ? ROW_SEAT_WAIT_MS : untilMs - clock.nowMs()
      if (found.call.seat_share === null) seat = await calls.reserve(claimOf(found), waitMs, signal)
    } catch (error) {
      this.#options.quotas.release(callId)
      if (!(error instanceof PatchbayError) || error.code !== 'no_capacity') throw error
      if (untilMs === undefined) throw new RescheduleJob(ROW_POLL_MS)
      return this.#end(tenant, workspaceId, callId, NO_CAPACITY)
    }
    try {
      // From here on the reaper leaves the call to this node; the mark keeps all others from dialling it.
      await calls.hold(callId)
      const refuse = (outcome: DialOutcome): Promise<void> => {
        seat?.release('done')
        this.#options.quotas.release(callId)
        return this.#end(tenant, workspaceId, callId, outcome)
      }
      const refusal = await this.#options.mayDial(tenant, found.call, signal)
      if (refusal !== undefined) return refuse(skippedFor(refusal.reason, refusal.sentence))
      const served = await servedAgent(store, workspaceId, agent)
      if ('refused' in served) return refuse(notServed(served.refused))
      if (await markPlaced(tenant, callId, new Date(clock.nowMs()))) {
        return this.#dial({ ...found, agent: served.agent, provider }, from, to, seat)
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

  /** The call is marked as placed: from now on it always gets exactly one end. */
  async #dial(
    found: CallToPlace & { agent: ServedAgent; provider: string },
    from: PhoneNumber,
    to: PhoneNumber,
    seat: ClaimedSlot | undefined,
  ): Promise<void> {
    const { call, agent, provider, trunk, campaignTools } = found
    const { store, calls, quotas, carriers, journalOf, limits, ringTimeoutMs, mcpTools, clock, log } = this.#options
    const tenant = store.tenant(call.workspace_id)
    const journal = journalOf(call.workspace_id)
    const events = new CallLog(clock, [(event) => journal.event?.(call.id, event)])
    events.append({ type: 'queued' })
    const done = Promise.withResolvers<void>()
    let carrier: Carrier | undefined
    let spec: AgentSpec
    let announcement: AgentSpec | undefined
    let over = false
    let joined = false
    /** The carrier's cause is written with the end, so that both are read together. */
    let observed = Promise.resolve()
    /** True for the first that decides what becomes of the call. */
    const decide = (): boolean => {
      if (over) return false
      over = true
      clearTimeout(watchdog)
      this.#dialling.delete(call.id)
      return true
    }
    const finish = (outcome: DialOutcome) => {
      if (!decide()) return
      seat?.release('done')
      quotas.release(call.id)
      inBackground(
        'call',
        observed.then(() => this.#end(tenant, call.workspace_id, call.id, outcome, events)).finally(done.resolve),
      )
    }
    const cancel = (outcome: DialOutcome) => {
      finish(outcome)
      carrier?.hangup(call.id, signalWithin(CARRIER_TIMEOUT_MS)).catch((err) => {
        log.warn({ err, callId: call.id }, 'The carrier did not hang up')
      })
    }
    const answered = (leg: Leg, by: AnsweredBy) => {
      if (by === 'machine' && agent.voicemail === 'hang_up') return cancel(VOICEMAIL)
      if (!decide()) return leg.close('canceled')
      joined = true
      done.resolve()
      if (seat === undefined) {
        markPickedUp(tenant, call.id, new Date(clock.nowMs())).catch((err) => {
          log.warn({ err, callId: call.id }, 'picked_up_at could not be saved')
        })
      }
      const live = calls.start({
        callId: call.id,
        claim: claimOf(found),
        agent: spec,
        limits: limitsOf(agent, limits),
        leg,
        journal,
        ...(seat === undefined ? {} : { seat }),
        // A machine hears no announcement: it waits like other calls, and is retried if no agent is free.
        ...(announcement === undefined || by === 'machine'
          ? {}
          : { unseated: { waitMs: PICKED_UP_WAIT_MS, announcement } }),
        before: events,
      })
      inBackground(
        'call',
        live.finally(() => quotas.release(call.id)),
      )
      if (by !== 'unknown') calls.classified(call.id, by)
    }
    const watchdog = setTimeout(
      boundary('call', () => cancel(outcomeOfFailure('no_answer'))),
      ringTimeoutMs + RING_MARGIN_MS,
    )
    this.#dialling.set(call.id, { cancel, done: done.promise })
    try {
      const plain = agentSpec(agent, call.dynamic_variables, await hasReadyDocuments(tenant, agent.id), {
        nowMs: clock.nowMs(),
        dialled: true,
        callId: call.id,
        direction: 'outbound',
        callerNumber: from,
        calledNumber: to,
      })
      const { spec: own, faults } = await mcpTools.complete(agent, plain)
      for (const sentence of faults) events.append({ type: 'fault', stage: 'tool', sentence })
      const tools = [...(own.tools ?? []), ...campaignToolSpecs(campaignTools, own.tools ?? [])]
      spec = tools.length === 0 ? own : { ...own, tools }
      seat?.worker.warm(call.id, spec)
      if (seat === undefined) {
        const workspace = (await workspaceName(store.global, call.workspace_id)) ?? agent.agent_name
        const variables = call.dynamic_variables
        announcement = abandonedCall(spec, found.abandonedMessage, { workspace, from, variables })
      }
      carrier = await carriers.get(provider)
      // Hung up before anybody was called.
      if (over) return
      await carrier.dial(
        {
          callId: call.id,
          workspaceId: call.workspace_id,
          ...(trunk === null ? {} : { trunk }),
          from,
          to,
          ringTimeoutMs,
          detectMachine: agent.voicemail !== 'continue',
        },
        {
          accepted: (carrierId) => {
            writeCarrierId(tenant, call.id, carrierId).catch((err) => {
              log.warn({ err, callId: call.id, carrierId }, "The carrier's id of a call could not be saved")
            })
          },
          carrier: (figures) => {
            const event = carrierEvent(figures)
            const { type: _type, ...carrier } = event
            // Of a call that has a leg the leg tells it.
            if (!joined) events.append(event)
            const write = async () => journal.observed?.(call.id, { carrier })
            observed = observed.then(write).catch((err) => {
              log.warn({ err, callId: call.id }, 'Carrier details of a call could not be saved')
            })
          },
          ringing: () => {
            if (over) return
            if (!events.state.rang) events.append({ type: 'ringing' })
            journal.ringing(call.id).catch((err) => log.warn({ err, callId: call.id }, 'Ringing could not be saved'))
          },
          answered,
          classified: (by) => calls.classified(call.id, by),
          failed: (failure, detail) => finish(outcomeOfFailure(failure, detail)),
        },
        signalWithin(CARRIER_TIMEOUT_MS),
      )
    } catch (error) {
      if (error instanceof PatchbayError && error.code === 'agent_text_too_long') return finish(badAgent(error.message))
      log.warn({ err: error, callId: call.id, provider }, 'The carrier rejected the call')
      // The carrier may have accepted it all the same: end it there too.
      cancel(outcomeOfFailure('carrier', this.#wordsOf(error, provider)))
    }
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
    return place === 'taken' ? undefined : place === 'number_full' ? NUMBER_FULL : WORKSPACE_FULL
  }

  /** What an operator reads of a carrier's refusal. */
  #wordsOf(error: unknown, provider: string): string | undefined {
    if (error instanceof CarrierFault) return `${this.#options.carriers.titleOf(provider)} error: ${error.message}`
    return error instanceof PatchbayError ? error.message : undefined
  }

  async #giveBack(callId: string, seat: ClaimedSlot | undefined): Promise<void> {
    seat?.release('done')
    this.#options.quotas.release(callId)
    await this.#options.calls.drop(callId)
  }

  /** Writes the end, then lets the reaper see the call: it ends what could not be written. */
  async #end(
    tenant: Tenant,
    workspaceId: string,
    callId: string,
    outcome: DialOutcome,
    events?: CallLog,
  ): Promise<void> {
    const { calls, clock, log, journalOf } = this.#options
    const journal = journalOf(workspaceId)
    log.info({ callId, ...outcome }, 'Call ended')
    try {
      if (await writeEnd(tenant, callId, outcome, new Date(clock.nowMs()), 0)) {
        logUnconnectedCall(clock, (event) => journal.event?.(callId, event), outcome, events)
      }
    } catch (err) {
      log.error({ err, callId }, 'The end of a call could not be written; the reaper will')
    }
    await calls.drop(callId).catch((err) => log.warn({ err, callId }, 'Could not drop the lease of an ended call'))
  }
}

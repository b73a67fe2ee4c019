import type { SlotClaim } from '../../runtime/admission/slot-claim.ts'
import type { Calls } from '../../runtime/call/control/calls.ts'
import { type DialEffect, type DialEvent, type DialPhase, dialStep } from '../../runtime/call/control/dial-step.ts'
import type { ClaimedSlot } from '../../runtime/call/control/dispatch.ts'
import type { Quotas } from '../../runtime/call/control/quotas.ts'
import { CallLog } from '../../runtime/call/log/call-log.ts'
import { type CallJournal, journalSink } from '../../runtime/call/log/journal.ts'
import type { AgentSpec, SessionLimits } from '../../runtime/call/types/agent-spec.ts'
import type { Leg } from '../../runtime/call/types/leg.ts'
import type { Carriers } from '../../runtime/dialing/carriers.ts'
import { boundary, inBackground } from '../../runtime/lib/async/boundary.ts'
import { signalWithin } from '../../runtime/lib/async/signal-within.ts'
import type { Clock } from '../../runtime/lib/clock.ts'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import type { PhoneNumber } from '../../runtime/lib/phone-number.ts'
import { type AnsweredBy, type Carrier, CarrierFault } from '../../runtime/plugin-sdk/telephony/carrier.ts'
import { badAgent, type DialOutcome, outcomeOfFailure } from '../../runtime/plugin-sdk/telephony/outcome.ts'
import type { Logger } from '../../runtime/process/log.ts'
import type { ServedAgent } from '../../store/agents/served-agents.ts'
import type { CallToPlace } from '../../store/calls/outbound-calls.ts'
import type { Store } from '../../store/database/database.ts'
import { hasReadyDocuments } from '../../store/knowledge/documents.ts'
import { workspaceName } from '../../store/workspaces/workspaces.ts'
import { limitsOf } from '../agents/speech.ts'
import { abandonedCall } from '../campaigns/abandoned-call.ts'
import { campaignToolSpecs } from '../campaigns/tools.ts'
import { agentSpec } from '../realtime/agent-spec.ts'
import type { McpTools } from '../tools/mcp-tools.ts'

const CARRIER_TIMEOUT_MS = 10_000
/** Safety limit for carriers that don't end the ringing themselves. */
const RING_MARGIN_MS = 65_000
/** A callee without an agent within two seconds was abandoned: the rest of that time is for the voice. */
const PICKED_UP_WAIT_MS = 1_600

export interface DialOptions {
  store: Store
  calls: Calls
  quotas: Quotas
  carriers: Carriers
  journalOf(workspaceId: string): CallJournal
  limits: SessionLimits
  ringTimeoutMs: number
  mcpTools: Pick<McpTools, 'complete'>
  clock: Clock
  log: Logger
}

export interface PlacedCall {
  found: CallToPlace & { agent: ServedAgent; provider: string }
  from: PhoneNumber
  /** A number, an extension or a SIP URI. */
  to: string
  /** `to` is an extension that registers here. */
  toExtension: boolean
  claim: SlotClaim
  /** Undefined: the call gets a slot at the answer. */
  seat: ClaimedSlot | undefined
  /** It rings no more. */
  decided(): void
  /** Ends a call that was not answered. */
  end(outcome: DialOutcome, log: CallLog): Promise<void>
}

/** One call that was marked as placed and is not answered yet: from now on it always gets exactly one end. */
export class Dialling {
  /** Resolves when the call is joined, or its end is written. */
  readonly done: Promise<void>
  readonly #options: DialOptions
  readonly #order: PlacedCall
  readonly #journal: CallJournal
  readonly #log: CallLog
  readonly #watchdog: NodeJS.Timeout
  #phase: DialPhase = 'ordered'
  #carrier: Carrier | undefined
  #spec: AgentSpec | undefined
  #announcement: AgentSpec | undefined
  #resolveDone: () => void = () => undefined

  constructor(options: DialOptions, order: PlacedCall) {
    this.#options = options
    this.#order = order
    const { call, agent } = order.found
    this.#journal = options.journalOf(call.workspace_id)
    this.#log = new CallLog(options.clock, [journalSink(this.#journal, call.id)])
    const { agent_version, rollout_id } = agent
    this.#log.append({
      type: 'queued',
      ...(agent_version === null ? {} : { agent_version }),
      ...(rollout_id === null ? {} : { rollout_id }),
    })
    this.done = new Promise((resolve) => {
      this.#resolveDone = resolve
    })
    this.#watchdog = setTimeout(
      boundary('call', () => this.cancel(outcomeOfFailure('no_answer'))),
      options.ringTimeoutMs + RING_MARGIN_MS,
    )
  }

  /** Hangs up, unless what becomes of the call is decided. */
  cancel(outcome: DialOutcome): void {
    this.#happened({ type: 'canceled', outcome })
  }

  /** Resolves when the carrier has the order, or the call is over without one. */
  async start(): Promise<void> {
    const { carriers, log } = this.#options
    const { call, provider } = this.#order.found
    try {
      await this.#prepare()
      const own = this.#order.toExtension ? await carriers.ofExtensions() : undefined
      this.#carrier = own ?? (await carriers.get(provider))
      // Hung up before anybody was called.
      if (this.#phase !== 'ordered') return
      await this.#dial(this.#carrier)
    } catch (error) {
      if (error instanceof PatchbayError && error.code === 'agent_text_too_long') {
        this.#happened({ type: 'failed', outcome: badAgent(error.message) })
        return
      }
      log.warn({ err: error, callId: call.id, provider }, 'The carrier rejected the call')
      this.#happened({ type: 'rejected', outcome: outcomeOfFailure('carrier', this.#wordsOf(error)) })
    }
  }

  /** What the agent says and may do, and what a callee hears who finds no agent. */
  async #prepare(): Promise<void> {
    const { store, mcpTools } = this.#options
    const { found, from, seat } = this.#order
    const { call, agent } = found
    const hasDocuments = await hasReadyDocuments(store.tenant(call.workspace_id), agent)
    const plain = agentSpec(agent, call.dynamic_variables, hasDocuments, {
      nowMs: this.#options.clock.nowMs(),
      dialled: true,
      callId: call.id,
      direction: 'outbound',
      callerNumber: from,
      calledNumber: call.to_number,
    })
    const { spec: own, faults } = await mcpTools.complete(agent, plain)
    for (const sentence of faults) this.#log.append({ type: 'fault', stage: 'tool', sentence })
    const tools = [...(own.tools ?? []), ...campaignToolSpecs(found.campaignTools, own.tools ?? [])]
    const spec = tools.length === 0 ? own : { ...own, tools }
    this.#spec = spec
    seat?.worker.warm(call.id, spec)
    if (seat !== undefined) return
    const workspace = (await workspaceName(store.global, call.workspace_id)) ?? agent.agent_name
    const variables = call.dynamic_variables
    this.#announcement = abandonedCall(spec, found.abandonedMessage, { workspace, from, variables })
  }

  #dial(carrier: Carrier): Promise<void> {
    const { calls, ringTimeoutMs } = this.#options
    const { found, from, to, toExtension } = this.#order
    const { call, agent, trunk } = found
    return carrier.dial(
      {
        ...{ callId: call.id, workspaceId: call.workspace_id, from, to, toExtension, ringTimeoutMs },
        ...(trunk === null ? {} : { trunk }),
        detectMachine: agent.voicemail !== 'continue',
      },
      {
        accepted: (carrierId) => this.#happened({ type: 'accepted', carrierId }),
        carrier: (figures) => this.#happened({ type: 'figures', figures }),
        ringing: () => this.#happened({ type: 'ringing' }),
        answered: (leg, by) => this.#happened({ type: 'answered', by }, leg),
        classified: (by) => calls.classified(call.id, by),
        failed: (failure, detail) => this.#happened({ type: 'failed', outcome: outcomeOfFailure(failure, detail) }),
      },
      signalWithin(CARRIER_TIMEOUT_MS),
    )
  }

  /** Moves the state and does what follows. `leg`: of an answer. */
  #happened(event: DialEvent, leg?: Leg): void {
    const { found, seat, decided } = this.#order
    const terms = { hangsUpOnMachines: found.agent.voicemail === 'hang_up', isReserved: seat !== undefined }
    const before = this.#phase
    const { phase, effects } = dialStep(before, event, terms)
    this.#phase = phase
    if (phase !== before && phase !== 'ringing') {
      clearTimeout(this.#watchdog)
      decided()
    }
    for (const effect of effects) this.#do(effect, event.type === 'answered' ? event.by : 'unknown', leg)
  }

  #do(effect: DialEffect, by: AnsweredBy, leg: Leg | undefined): void {
    switch (effect.type) {
      case 'log':
        this.#log.append(effect.event)
        break
      case 'join':
        if (leg !== undefined) this.#join(leg, by)
        break
      case 'close_leg':
        leg?.close('canceled')
        break
      case 'end':
        this.#order.seat?.release('done')
        this.#options.quotas.release(this.#order.found.call.id)
        inBackground('call', this.#order.end(effect.outcome, this.#log).finally(this.#resolveDone))
        break
      case 'hang_up':
        this.#hangUp()
    }
  }

  #join(leg: Leg, by: AnsweredBy): void {
    const { calls, quotas, limits } = this.#options
    const { found, claim, seat } = this.#order
    const { call, agent } = found
    const announcement = this.#announcement
    if (this.#spec === undefined) return
    this.#resolveDone()
    const live = calls.start({
      ...{ callId: call.id, claim, agent: this.#spec, leg, journal: this.#journal, before: this.#log },
      limits: limitsOf(agent, limits),
      ...(seat === undefined ? {} : { seat }),
      // A machine hears no announcement: it waits like other calls, and is retried if no agent is free.
      ...(announcement === undefined || by === 'machine'
        ? {}
        : { unseated: { waitMs: PICKED_UP_WAIT_MS, announcement } }),
    })
    inBackground(
      'call',
      live.finally(() => quotas.release(call.id)),
    )
    if (by !== 'unknown') calls.classified(call.id, by)
  }

  #hangUp(): void {
    const { id: callId } = this.#order.found.call
    this.#carrier?.hangup(callId, signalWithin(CARRIER_TIMEOUT_MS)).catch((err) => {
      this.#options.log.warn({ err, callId }, 'The carrier did not hang up in time')
    })
  }

  /** What an operator reads of a carrier's refusal. */
  #wordsOf(error: unknown): string | undefined {
    const title = this.#options.carriers.titleOf(this.#order.found.provider)
    if (error instanceof CarrierFault) return `${title} error: ${error.message}`
    return error instanceof PatchbayError ? error.message : undefined
  }
}

import { randomBytes } from 'node:crypto'
import { NO_DIAL_RULES } from '../../runtime/dialing/dial-policy.ts'
import { boundary, inBackground } from '../../runtime/lib/async/boundary.ts'
import { systemClock } from '../../runtime/lib/clock.ts'
import type { PhoneNumber } from '../../runtime/lib/phone-number.ts'
import { Pacer } from '../../runtime/media/line/pacer.ts'
import type { PluginHost } from '../../runtime/plugin/contract.ts'
import {
  type Carrier,
  type CarrierCallState,
  CarrierFault,
  type CarrierFinding,
  type DialEvents,
  type DialOrder,
  type IncomingCall,
  type LoopbackCall,
  type TestCall,
  type TransferCase,
  TransferRefused,
  type TrunkFigures,
  type TrunkFinding,
  type TrunkState,
} from '../../runtime/plugin-sdk/telephony/carrier.ts'
import type { Trunk, TrunkDirectory } from '../../runtime/plugin-sdk/telephony/trunk.ts'
import { explainCall } from './call/explain-call.ts'
import type { InboundCall } from './call/inbound-call.ts'
import { Incoming, noteRefusal } from './call/incoming.ts'
import { joinExtensions } from './call/internal.ts'
import { placeCall } from './call/outgoing.ts'
import { TestCallObserver } from './call/test-call.ts'
import { caseOf, targetAt } from './call/transfer.ts'
import { diagnose, diagnoseTrunk } from './doctor.ts'
import { MediaRefused } from './media/call-media.ts'
import type { CallControl } from './media/rtp-leg.ts'
import type { KnownExtension } from './registrar/extension-table.ts'
import { RingAll } from './registrar/ring-all.ts'
import { readSettings } from './settings.ts'
import { SipStack } from './stack.ts'
import type { Refusal } from './transport/gatekeeper.ts'
import type { Target } from './trunk/targets.ts'
import type { ActiveTrunk } from './trunk/trunk-table.ts'

/** How long one of our phones rings for another. */
const INTERNAL_RING_MS = 60_000

/** Phone calls over SIP. Nothing is opened before it is needed: a process that only looks calls up listens nowhere. */
export class SipCarrier implements Carrier {
  readonly #host: PluginHost
  readonly #stack: SipStack
  readonly #calls = new Map<string, CallControl>()
  /** Of trunks, each looked at once at a time. */
  readonly #checks = new Map<string, Promise<TrunkFinding[]>>()
  /** Trunks over which a test call runs. */
  readonly #tested = new Set<string>()
  #onCall: ((call: IncomingCall) => void) | undefined
  #opening: Promise<boolean> | undefined
  #closed = false

  constructor(host: PluginHost, trunks: TrunkDirectory, options: Readonly<Record<string, unknown>>) {
    this.#host = host
    this.#stack = new SipStack({
      host,
      directory: trunks,
      settings: readSettings(host, options),
      clock: systemClock,
      pacer: new Pacer(systemClock, (err) => host.log.error({ err }, 'A call failed at its tick')),
      random: { bits: (count) => randomBytes(4).readUInt32BE(0) >>> (32 - count) },
      token: () => randomBytes(12).toString('hex'),
      invited: (call, from) => inBackground('sip', this.#invited(call, from)),
    })
    host.signal.addEventListener(
      'abort',
      boundary('sip', () => inBackground('sip', this.close())),
      { once: true },
    )
  }

  trunkState(trunkId: string): TrunkState | undefined {
    const active = this.#stack.trunks.byId(trunkId)
    return active && stateOf(active)
  }

  trunks(): TrunkFigures[] {
    return this.#stack.trunks
      .all()
      .filter(({ isLocal }) => !isLocal)
      .map((active) => {
        const { id, name, workspaceId } = active.trunk
        return { id, name, workspaceId, state: stateOf(active) }
      })
  }

  get refusals(): ReadonlyMap<string, number> {
    return this.#stack.gatekeeper.refusals
  }

  async diagnose(): Promise<CarrierFinding[]> {
    return diagnose(this.#stack, await this.#open())
  }

  diagnoseTrunk(trunkId: string): Promise<TrunkFinding[]> {
    const running = this.#checks.get(trunkId)
    if (running !== undefined) return running
    const check = this.#open()
      .then((listens) => diagnoseTrunk(this.#stack, listens, trunkId))
      .finally(() => this.#checks.delete(trunkId))
    this.#checks.set(trunkId, check)
    return check
  }

  async testCall(order: DialOrder, signal: AbortSignal): Promise<TestCall> {
    await this.#open()
    const trunk = this.#stack.trunks.find(order.workspaceId, order.trunk)?.trunk
    if (trunk !== undefined && this.#tested.has(trunk.id))
      throw new CarrierFault('a test call of this trunk is running')
    this.#tested.add(trunk?.id ?? '')
    try {
      return await this.#testCall(order, trunk, signal)
    } finally {
      this.#tested.delete(trunk?.id ?? '')
    }
  }

  async #testCall(order: DialOrder, trunk: Trunk | undefined, signal: AbortSignal): Promise<TestCall> {
    const observer = new TestCallObserver(this.#stack.context, () => inBackground('sip', this.hangup(order.callId)))
    await this.dial(order, observer, signal)
    const seen = await observer.over
    const messages = this.#stack.messages(seen.figures.callId)
    return { findings: explainCall({ ...seen, messages, trunk }), messages }
  }

  async receive(onCall: (call: IncomingCall) => void, signal: AbortSignal): Promise<void> {
    this.#onCall = onCall
    signal.addEventListener(
      'abort',
      boundary('sip', () => {
        this.#onCall = undefined
        this.#stack.trunks.retire()
      }),
    )
    await this.#open()
  }

  leave(): void {
    this.#stack.trunks.leave()
  }

  /** False when SIP is switched off, or its port is taken. */
  #open(): Promise<boolean> {
    this.#opening ??= this.#stack.open()
    this.#opening.catch(() => {
      this.#opening = undefined
    })
    return this.#opening
  }

  readonly ownNumbers = true
  readonly numbers = {
    register: async (
      _number: PhoneNumber,
      trunk: string | undefined,
      _signal: AbortSignal,
      workspaceId: string,
    ): Promise<undefined> => {
      if (trunk === undefined) return
      await this.#stack.trunks.refresh()
      if (this.#stack.trunks.find(workspaceId, trunk) === undefined) {
        throw new CarrierFault(`the workspace has no trunk "${trunk}"`)
      }
    },
  }

  async dial(order: DialOrder, events: DialEvents, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    const refuse = (detail: string): void => events.failed('carrier', `SIP error: ${detail}`)
    if (!(await this.#open())) {
      refuse('SIP does not listen; see PATCHBAY_SIP_PORT')
      return
    }
    if (order.toExtension === true) {
      const extension = this.#stack.extensions.withName(order.workspaceId, order.to)
      if (extension !== undefined) return this.#ring(extension, order, events)
      refuse(`"${order.to}" is no extension any more`)
      return
    }
    const active = this.#stack.trunks.find(order.workspaceId, order.trunk)
    if (active === undefined) {
      refuse(order.trunk === undefined ? 'the number names no trunk' : `there is no trunk "${order.trunk}"`)
      return
    }
    const turnAway = (reason: Refusal, detail: string): void => {
      this.#stack.gatekeeper.refuse(reason, order.to, detail, { callId: order.callId, trunk: active.trunk.name })
      refuse(detail)
    }
    const may = (one: ActiveTrunk) => targetAt(one, order.to, caseOf(one, order))
    const first = may(active)
    if ('refusal' in first) {
      turnAway(first.refusal.reason, first.refusal.detail)
      return
    }
    const busy = active.enter(systemClock.monotonicMs())
    if (busy !== undefined) {
      turnAway(busy, `trunk "${active.trunk.name}" has its cap of calls`)
      return
    }
    await placeCall({
      ...{
        order,
        events,
        refuse,
        trunks: this.#stack.trunks.withFallbacks(active, (one) => !('refusal' in may(one))),
      },
      stack: this.#stack,
      took: (control) => this.#calls.set(order.callId, control),
      left: () => this.#calls.delete(order.callId),
    })
  }

  /** Calls every phone of an extension at once. */
  async #ring({ extension, active }: KnownExtension, order: DialOrder, events: DialEvents): Promise<void> {
    const { registrar, directory } = this.#stack
    const own = registrar.phones(extension.id)
    const elsewhere = ((await directory.extensions?.bindings(extension.id)) ?? []).filter(
      // A connection is its node's alone; over UDP a phone can be asked from anywhere.
      ({ contact, protocol }) => protocol === 'udp' && !own.some((phone) => phone.contact === contact),
    )
    const phones: Target[] = [...own, ...elsewhere]
    const contacts = [...own, ...elsewhere].map(({ contact }) => contact)
    const free = phones.filter(() => active.enter(systemClock.monotonicMs()) === undefined)
    if (free.length === 0) {
      if (phones.length > 0) events.failed('busy', `extension "${extension.name}" has its cap of calls`)
      else events.failed('no_answer', `extension "${extension.name}" has no phone registered`)
      return
    }
    const all = new RingAll(free.length, events)
    const control: CallControl = { hangUp: () => all.hangUp() }
    this.#calls.set(order.callId, control)
    let ringing = free.length
    await Promise.all(
      free.map((target, i) => {
        let own: CallControl | undefined
        const heard = all.phone(() => own?.hangUp())
        return placeCall({
          order: { ...order, to: contacts[i] ?? '' },
          ...{ events: heard, target, trunks: [active], stack: this.#stack },
          refuse: (detail) => heard.failed('carrier', `SIP error: ${detail}`),
          took: (taken) => {
            own = taken
            // The first to answer gets the call.
            if (taken.transfer !== undefined) this.#calls.set(order.callId, taken)
          },
          left: () => {
            ringing--
            if (ringing === 0 || this.#calls.get(order.callId) === own) this.#calls.delete(order.callId)
          },
        })
      }),
    )
  }

  readonly takesNames = true
  readonly hasExtensions = true

  async trunkOf(workspaceId: string, name: string | undefined): Promise<Trunk | undefined> {
    await this.#open()
    return this.#stack.trunks.find(workspaceId, name)?.trunk
  }

  async transfer(callId: string, to: string, _signal: AbortSignal, by: TransferCase): Promise<void> {
    const call = this.#calls.get(callId)
    if (call?.transfer === undefined) throw new CarrierFault('the call is not answered, or over')
    const result = await call.transfer(to, by)
    if (result === 'refused') throw new TransferRefused('the other side takes no transfers')
    if (result === 'failed') throw new CarrierFault('the other side could not be transferred')
  }

  /** A phone of ours calls another one. False: what it dialled is no extension with a phone. */
  async #join(caller: KnownExtension, incoming: Incoming): Promise<boolean> {
    const { extensions, registrar, context } = this.#stack
    const { workspaceId, name, displayName, id } = caller.extension
    const called = extensions.withName(workspaceId, incoming.to) ?? extensions.withUsername(incoming.to)
    if (called?.extension.workspaceId !== workspaceId || registrar.phones(called.extension.id).length === 0)
      return false
    const callId = `internal-${context.token()}`
    const leg = await incoming.accept({ callId, trunk: id, rules: NO_DIAL_RULES })
    if (leg === undefined) return true
    const secondId = `${callId}.2`
    const order: DialOrder = {
      ...{ callId: secondId, workspaceId, from: name, to: called.extension.name },
      ...(displayName === undefined ? {} : { onBehalfOf: name }),
      ringTimeoutMs: INTERNAL_RING_MS,
    }
    joinExtensions({
      caller: leg,
      dial: (events) =>
        inBackground(
          'sip',
          this.#ring(called, order, events).catch((err: unknown) => {
            this.#host.log.error({ err, extension: called.extension.name }, 'An extension could not be called')
            events.failed('carrier')
          }),
        ),
      hangUp: () => this.#calls.get(secondId)?.hangUp(),
      ...{ clock: context.clock, timers: context.timers },
    })
    return true
  }

  async loopback(line: Parameters<NonNullable<Carrier['loopback']>>[0], signal: AbortSignal): Promise<LoopbackCall> {
    const { openLoopback } = await import('./loopback.ts')
    return openLoopback(this.#host, line, signal)
  }

  async hangup(callId: string): Promise<void> {
    this.#calls.get(callId)?.hangUp()
  }

  async lookup(callId: string): Promise<CarrierCallState> {
    return this.#calls.has(callId) ? 'live' : 'unknown'
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    for (const call of [...this.#calls.values()]) call.hangUp()
    this.#stack.close()
  }

  async #invited(call: InboundCall, trunks: readonly ActiveTrunk[]): Promise<void> {
    const { ports, gatekeeper, context } = this.#stack
    const { flow, request } = call.transaction
    const onCall = this.#onCall
    if (onCall === undefined) {
      const detail = this.#stack.trunks.isRetired ? 'This node is stopping' : 'Calls are not taken yet'
      gatekeeper.refuse('no_capacity', flow.address, detail, { callId: request.callId })
      noteRefusal(context, call.transaction, trunks, { reason: 'no_capacity', detail, status: 503 })
      call.refuse(503)
      return
    }
    try {
      const caller = trunks[0]?.isExtension ? trunks[0].trunk : undefined
      const known = caller && this.#stack.extensions.withUsername(call.transaction.request.from.uri.user)
      const incoming = new Incoming({
        ...{ call, trunks, ports, gatekeeper, context, extension: known?.extension },
        challenge: () => this.#stack.challenge(call.transaction),
        took: (callId, control) => this.#calls.set(callId, control),
        left: (callId) => this.#calls.delete(callId),
      })
      if (known === undefined || !(await this.#join(known, incoming))) onCall(incoming)
    } catch (error) {
      if (error instanceof MediaRefused) {
        gatekeeper.refuse('no_media', flow.address, error.message)
        const { message: detail, status } = error
        noteRefusal(context, call.transaction, trunks, { reason: 'no_media', detail, status })
        call.refuseMedia(error)
      } else {
        this.#host.log.error({ err: error }, 'A call could not be taken')
        call.refuse(500)
      }
    }
  }
}

function stateOf(active: ActiveTrunk): TrunkState {
  return { contact: active.contact, activeCalls: active.activeCalls, ...active.figures.now() }
}

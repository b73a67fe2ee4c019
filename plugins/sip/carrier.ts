import { randomBytes } from 'node:crypto'
import { systemClock } from '../../runtime/clock.ts'
import { Pacer } from '../../runtime/media/pacer.ts'
import { type PhoneNumber, parsePhoneNumber } from '../../runtime/phone-number.ts'
import type { PluginHost } from '../../runtime/plugin/contract.ts'
import {
  type Carrier,
  type CarrierCallState,
  CarrierFault,
  type CarrierFinding,
  type DialEvents,
  type DialOrder,
  type IncomingCall,
  TransferRefused,
  type TrunkState,
} from '../../runtime/telephony/carrier.ts'
import type { TrunkDirectory } from '../../runtime/telephony/trunk.ts'
import { refusalOf } from './call/destination.ts'
import type { InboundCall } from './call/inbound-call.ts'
import { Incoming } from './call/incoming.ts'
import { placeCall } from './call/outgoing.ts'
import { nameAt } from './call/transfer.ts'
import { diagnose } from './doctor.ts'
import { MediaRefused } from './media/call-media.ts'
import type { CallControl } from './media/rtp-leg.ts'
import { readSettings } from './settings.ts'
import { SipStack } from './stack.ts'
import type { Refusal } from './transport/gatekeeper.ts'
import type { ActiveTrunk } from './trunk/trunk-table.ts'

/** Phone calls over SIP. Nothing is opened before it is needed: a process that only looks calls up listens nowhere. */
export class SipCarrier implements Carrier {
  readonly #host: PluginHost
  readonly #stack: SipStack
  readonly #calls = new Map<string, CallControl>()
  #onCall: ((call: IncomingCall) => void) | undefined
  #opening: Promise<boolean> | undefined

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
      invited: (call, from) => void this.#invited(call, from),
    })
    host.signal.addEventListener('abort', () => void this.close(), { once: true })
  }

  trunkState(trunkId: string): TrunkState | undefined {
    const active = this.#stack.trunks.byId(trunkId)
    return active && { contact: active.contact, activeCalls: active.activeCalls, ...active.figures.now() }
  }

  get refusals(): ReadonlyMap<string, number> {
    return this.#stack.gatekeeper.refusals
  }

  async diagnose(): Promise<CarrierFinding[]> {
    return diagnose(this.#stack, await this.#open())
  }

  async receive(onCall: (call: IncomingCall) => void, signal: AbortSignal): Promise<void> {
    this.#onCall = onCall
    signal.addEventListener('abort', () => {
      this.#onCall = undefined
    })
    await this.#open()
  }

  /** False when SIP is switched off, or its port is taken. */
  #open(): Promise<boolean> {
    this.#opening ??= this.#stack.open()
    this.#opening.catch(() => {
      this.#opening = undefined
    })
    return this.#opening
  }

  readonly numbers = {
    register: async (
      _number: PhoneNumber,
      trunk: string | undefined,
      _signal: AbortSignal,
      workspaceId: string,
    ): Promise<void> => {
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
    const active = this.#stack.trunks.find(order.workspaceId, order.trunk)
    if (active === undefined) {
      refuse(order.trunk === undefined ? 'the number names no trunk' : `there is no trunk "${order.trunk}"`)
      return
    }
    const turnAway = (reason: Refusal, detail: string): void => {
      this.#stack.gatekeeper.refuse(reason, order.to, detail, { callId: order.callId, trunk: active.trunk.name })
      refuse(detail)
    }
    const number = parsePhoneNumber(order.to)
    const forbidden = number === undefined ? undefined : refusalOf(number, order.from, active.trunk)
    if (number === undefined && nameAt(active, order.to) === undefined) {
      turnAway('forbidden', `"${order.to}" is no number, and no extension of trunk "${active.trunk.name}"`)
      return
    }
    if (forbidden !== undefined) {
      turnAway(forbidden.reason, forbidden.detail)
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
        trunks: this.#stack.trunks.withFallbacks(active, (one) =>
          number === undefined
            ? nameAt(one, order.to) !== undefined
            : refusalOf(number, order.from, one.trunk) === undefined,
        ),
      },
      stack: this.#stack,
      took: (control) => this.#calls.set(order.callId, control),
      left: () => this.#calls.delete(order.callId),
    })
  }

  readonly takesNames = true

  async transfer(callId: string, to: string): Promise<void> {
    const call = this.#calls.get(callId)
    if (call?.transfer === undefined) throw new CarrierFault('the call is not answered, or over')
    const result = await call.transfer(to)
    if (result === 'refused') throw new TransferRefused('the other side takes no transfers')
    if (result === 'failed') throw new CarrierFault('the other side could not be transferred')
  }

  async hangup(callId: string): Promise<void> {
    this.#calls.get(callId)?.hangUp()
  }

  async lookup(callId: string): Promise<CarrierCallState> {
    return this.#calls.has(callId) ? 'live' : 'unknown'
  }

  async close(): Promise<void> {
    for (const call of [...this.#calls.values()]) call.hangUp()
    this.#stack.close()
  }

  async #invited(call: InboundCall, trunks: readonly ActiveTrunk[]): Promise<void> {
    const { ports, gatekeeper, context } = this.#stack
    const { flow, request } = call.transaction
    const onCall = this.#onCall
    const pair = onCall === undefined ? undefined : await ports.take().catch(() => undefined)
    if (pair === undefined || onCall === undefined) {
      gatekeeper.refuse('no_capacity', flow.address, 'No ports for media are free', { callId: request.callId })
      call.refuse(503)
      return
    }
    let held = true
    const release = (): void => {
      if (held) ports.release(pair)
      held = false
    }
    try {
      const incoming = new Incoming({
        ...{ call, trunks, pair, release, gatekeeper, context },
        took: (callId, control) => this.#calls.set(callId, control),
        left: (callId) => this.#calls.delete(callId),
      })
      call.canceled.addEventListener('abort', release, { once: true })
      if (call.canceled.aborted) release()
      else onCall(incoming)
    } catch (error) {
      release()
      if (error instanceof MediaRefused) {
        gatekeeper.refuse('no_media', flow.address, error.message)
        call.refuseMedia(error)
      } else {
        this.#host.log.error({ err: error }, 'A call could not be taken')
        call.refuse(500)
      }
    }
  }
}

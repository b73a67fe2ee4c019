import type { Leg } from '../../../runtime/call/types/leg.ts'
import { LINE_CODECS } from '../../../runtime/media/codecs/line-codec.ts'
import type { DialRules, IncomingCall, IncomingRefusal } from '../../../runtime/plugin-sdk/telephony/carrier.ts'
import type { CallContext } from '../dialog/context.ts'
import { CallMedia, descriptionOf, MediaRefused } from '../media/call-media.ts'
import type { MediaPair, MediaPorts } from '../media/media-ports.ts'
import type { Agreement, CodecName } from '../media/offer-answer.ts'
import { type CallControl, RtpLeg } from '../media/rtp-leg.ts'
import type { SessionDescription } from '../media/sdp.ts'
import { formatHost } from '../message/serializer.ts'
import type { Gatekeeper, Refusal } from '../transport/gatekeeper.ts'
import { contactName } from '../trunk/presence.ts'
import type { ActiveTrunk } from '../trunk/trunk-table.ts'
import { callerNumber, callerVariables, dialledNumber } from './caller.ts'
import type { InboundCall } from './inbound-call.ts'
import { caseOf, mayLead, referTarget } from './transfer.ts'

const STATUS: Readonly<Record<IncomingRefusal, number>> = {
  unknown_number: 404,
  foreign_trunk: 404,
  no_agent: 480,
  no_capacity: 503,
  forbidden: 403,
  failed: 500,
}

interface IncomingOptions {
  call: InboundCall
  trunks: readonly ActiveTrunk[]
  /** The caller is one of ours. */
  extension?: { workspaceId: string; name: string } | undefined
  ports: MediaPorts
  /** Asks the caller for a password instead of refusing the call. False: that is no use. */
  challenge(): boolean
  /** The call is this one of ours now. */
  took(callId: string, control: CallControl): void
  left(callId: string): void
  gatekeeper: Gatekeeper
  context: CallContext
}

/** A call that came in, as the core is offered it. */
export class Incoming implements IncomingCall {
  readonly to: string
  readonly from: string | undefined
  readonly trunks: readonly string[]
  readonly extension?: { readonly workspaceId: string; readonly name: string }
  readonly #options: IncomingOptions
  readonly #offer: SessionDescription | undefined

  /** Throws MediaRefused when the caller's description can't be used. */
  constructor(options: IncomingOptions) {
    const { request } = options.call.transaction
    const countries = options.trunks.flatMap(({ trunk }) => trunk.countries)
    this.#options = options
    this.#offer = descriptionOf(request)
    this.to = dialledNumber(request, countries)
    this.from = callerNumber(request, countries)
    this.trunks = options.trunks.map(({ trunk }) => trunk.id)
    if (options.extension !== undefined) {
      this.extension = options.extension
      this.from = options.extension.name
    }
  }

  variables(trunkId: string | undefined): Record<string, string> {
    const active = this.#options.trunks.find(({ trunk }) => trunk.id === trunkId)
    return callerVariables(this.#options.call.transaction.request, active?.trunk.settings.take_headers ?? [])
  }

  get signal(): AbortSignal {
    return this.#options.call.canceled
  }

  /** Ports for media are taken once the trunk has a place for the call. */
  async accept(as: { callId: string; trunk?: string; rules: DialRules }): Promise<Leg | undefined> {
    const { callId, trunk, rules } = as
    const { trunks, context, ports, call } = this.#options
    const active = trunks.find((one) => one.trunk.id === trunk)
    if (active === undefined) {
      this.reject('forbidden')
      return undefined
    }
    const busy = active.enter(context.clock.monotonicMs())
    if (busy !== undefined) {
      this.#refuse(busy, `Trunk "${active.trunk.name}" has its cap of calls`, 503)
      return undefined
    }
    const pair = await ports.take().catch(() => undefined)
    if (pair === undefined || call.canceled.aborted) {
      if (pair !== undefined) ports.release(pair)
      else this.#refuse('no_capacity', 'No ports for media are free', 503)
      active.leave()
      return undefined
    }
    try {
      return this.#ring(active, { callId, rules }, pair)
    } catch (error) {
      active.leave()
      ports.release(pair)
      if (!(error instanceof MediaRefused)) {
        this.#options.call.refuse(500)
        throw error
      }
      this.#count('no_media', error.message, error.status)
      this.#options.call.refuseMedia(error)
      return undefined
    }
  }

  #ring(active: ActiveTrunk, { callId, rules }: { callId: string; rules: DialRules }, pair: MediaPair): RtpLeg {
    const { call, context, ports } = this.#options
    const { flow } = call.transaction
    const sipCallId = call.transaction.request.callId
    const local = { address: flow.local.host, port: pair.rtp.port, sessionId: context.random.bits(32) }
    const { codecs } = active.trunk
    const at = active.isLocal || active.isExtension ? formatHost(flow.address) : active.authority
    const media = new CallMedia(local, codecs, active.trunk.settings.media_encryption, {
      peer: flow.address,
      maySendTo: (address) => active.maySendMediaTo(address, flow.address),
    })
    const accepted = this.#offer === undefined ? undefined : media.accept(this.#offer)
    const allows = (address: string): boolean => active.allows(address) || address === flow.address
    const nowMs = (): number => context.clock.monotonicMs()
    let sinceMs: number | undefined
    const leg: RtpLeg = new RtpLeg({
      pair,
      agreement: accepted?.agreement ?? unknownYet(flow.address, codecs[0] ?? 'PCMU'),
      control: {
        answer: () => {
          sinceMs = nowMs()
          const by = caseOf(active, { from: this.to, rules })
          call.answer(allows, (target) => !active.isExtension && !active.isLocal && mayLead(active, target, by))
          leg.known({ sipStatus: 200 })
          context.keepMessages(callId, sipCallId, false)
        },
        hangUp: (reason) => call.hangUp(reason),
        // Phones of ours are led on from here: what they may call is for us to say.
        transfer: async (to, by) =>
          active.isExtension ? 'refused' : call.transfer(referTarget(active, to, caseOf(active, by), at)),
      },
      allows: (address) => active.allowsMedia(address, flow.address),
      released: () => {
        context.keepMessages(callId, sipCallId, true)
        if (sinceMs !== undefined) active.figures.talked(nowMs() - sinceMs)
        ports.release(pair)
        this.#options.left(callId)
        active.leave()
      },
      pacer: context.pacer,
      clock: context.clock,
      random: context.random,
      log: context.log.child({ callId }),
    })
    this.#options.took(callId, { hangUp: () => leg.hangUp('api_hangup'), transfer: (to, by) => leg.transfer(to, by) })
    leg.known({ callId: sipCallId, trunk: active.trunk.name })
    call.ring(leg, media, this.#offer, accepted?.answer, contactName(active.trunk))
    return leg
  }

  reject(why: IncomingRefusal): void {
    if (why === 'foreign_trunk' && this.#options.challenge()) return
    this.#refuse(
      why === 'foreign_trunk' ? 'unknown_number' : why,
      `The call for "${this.to}" was turned away`,
      STATUS[why],
    )
  }

  #refuse(reason: Refusal, why: string, status: number): void {
    this.#count(reason, why, status)
    this.#options.call.refuse(status)
  }

  #count(reason: Refusal, why: string, status: number): void {
    const { gatekeeper, call, context, trunks } = this.#options
    noteRefusal(context, call.transaction, trunks, { reason, detail: why, status, from: this.from, to: this.to })
    gatekeeper.refuse(reason, call.transaction.flow.address, why, {
      to: this.to,
      callId: call.transaction.request.callId,
    })
  }
}

/** Writes down a call that was turned away, for those whose trunk it came over. */
export function noteRefusal(
  context: CallContext,
  { request, flow }: InboundCall['transaction'],
  trunks: readonly ActiveTrunk[],
  why: { reason: string; detail: string; status: number; from?: string | undefined; to?: string | undefined },
): void {
  const own = trunks.filter(({ isLocal }) => !isLocal)
  const workspaces = new Set(own.map(({ trunk }) => trunk.workspaceId))
  const [first] = own
  context.refused({
    ...{ reason: why.reason, detail: why.detail, status: why.status, from: why.from, to: why.to },
    ...{ atMs: context.clock.nowMs(), address: flow.address, sipCallId: request.callId },
    // Two trunks share the address: the call's trunk is ambiguous.
    workspaceId: workspaces.size === 1 ? first?.trunk.workspaceId : undefined,
    trunk: own.length === 1 ? first?.trunk.name : undefined,
  })
}

/** Until the caller's answer to our offer says where its media are. */
function unknownYet(address: string, codec: CodecName): Agreement {
  const { payloadType } = LINE_CODECS[codec]
  return {
    ...{ address, codec, payloadType },
    port: 9,
    rtcpPort: 9,
    eventPayloadType: 101,
    ptimeMs: 20,
    direction: 'inactive',
  }
}

import { inBackground } from '../../lib/async/boundary.ts'
import type { Clock } from '../../lib/clock.ts'
import type { DialEvents } from '../../plugin-sdk/telephony/carrier.ts'
import { outcomeOfFailure } from '../../plugin-sdk/telephony/outcome.ts'
import type { Logger } from '../../process/log.ts'
import type { CallEventBody } from '../log/events.ts'
import type { AgentSpec } from '../types/agent-spec.ts'
import type { Leg, LegEvents } from '../types/leg.ts'
import { Consultation } from './consultation.ts'
import type { ClaimedSlot } from './dispatch.ts'
import { HoldSound } from './hold-sound.ts'
import { relay } from './relay.ts'

export interface TransferOrder {
  /** A number, an extension, a SIP URI. */
  to: string
  mode: 'blind' | 'warm'
  /** Dials the target. Throws when the carrier refuses the order. */
  dial(events: DialEvents): Promise<void>
  /** Ends the call there, in any state. */
  hangUp(): void
  /** Announces the caller to the callee and asks whether they take the call. Absent: no question is asked. */
  whisper?: AgentSpec
}

export type TransferResult = { ok: true } | { ok: false; reason: string }

/** What a transfer needs of its call. */
interface TransferHost {
  readonly callId: string
  readonly leg: Leg
  readonly clock: Clock
  readonly log: Logger
  tell(event: CallEventBody): void
  takeSeat(waitMs: number): Promise<ClaimedSlot>
  /** What the caller hears of the other human is recorded, too. */
  heard(bytes: Uint8Array): void
  /** The two talk: the agent leaves. */
  joined(): void
  /** The other one has hung up. */
  left(): void
}

/**
 * A caller on the way to another human, and with them: the second leg of the call. Until the two are joined the caller stays
 * with the agent; afterwards the call is theirs, with its clock, its recording and its end.
 */
export class Transfer {
  readonly #order: TransferOrder
  readonly #host: TransferHost
  readonly #result = Promise.withResolvers<TransferResult>()
  /** For legs without music of their own. */
  readonly #music: HoldSound
  #second: Leg | undefined
  #consultation: Consultation | undefined
  #toSecond: ((bytes: Uint8Array, timestamp: number) => Uint8Array[]) | undefined
  #over = false

  constructor(order: TransferOrder, host: TransferHost) {
    this.#order = order
    this.#host = host
    this.#music = new HoldSound(host.leg)
    host.tell({ type: 'transfer_started', to: order.to, mode: order.mode })
    const events: DialEvents = {
      ringing: () => this.#over || host.leg.ringing?.(order.to),
      answered: (leg) => inBackground('call', this.#answered(leg)),
      failed: (failure, detail) => this.#fail(detail ?? outcomeOfFailure(failure).error ?? failure.replace('_', ' ')),
    }
    order.dial(events).catch((error: unknown) => this.#fail(error instanceof Error ? error.message : String(error)))
  }

  /** Resolves when the two are joined, or the caller is back with the agent. */
  get result(): Promise<TransferResult> {
    return this.#result.promise
  }

  get isJoined(): boolean {
    return this.#toSecond !== undefined
  }

  /** What the caller says and presses once the two are joined. */
  audio(bytes: Uint8Array, timestamp: number): void {
    for (const run of this.#toSecond?.(bytes, timestamp) ?? []) sendLate(this.#second, run)
  }

  key(digit: string): void {
    this.#second?.sendDtmf?.(digit)
  }

  /** The call is over. */
  close(reason: string): void {
    if (this.#over) return
    this.#over = true
    this.#quiet()
    this.#consultation?.cancel()
    if (this.#second === undefined) this.#order.hangUp()
    else this.#second.close(reason)
    if (this.isJoined) return
    this.#host.tell({ type: 'transfer_failed', to: this.#order.to, reason: 'the caller has hung up' })
    this.#result.resolve({ ok: false, reason: 'The caller has hung up.' })
  }

  async #answered(leg: Leg): Promise<void> {
    if (this.#over) return leg.close('canceled')
    this.#second = leg
    this.#host.leg.ringing?.(undefined)
    const { whisper } = this.#order
    if (whisper === undefined) {
      this.#join((events) => {
        leg.start(events)
        leg.answer()
      })
      return
    }
    if (this.#host.leg.music === undefined) this.#music.start()
    else this.#host.leg.music(true)
    const { callId, clock, takeSeat, tell } = this.#host
    const consultation = new Consultation({ callId, agent: whisper, leg, clock, takeSeat, tell })
    this.#consultation = consultation
    const verdict = await consultation.verdict
    if (this.#over) return
    this.#consultation = undefined
    // The caller was promised a human: connect them unannounced rather than fail.
    if (verdict === 'unasked') this.#fault('Nobody was free to announce the caller, who was put through without a word')
    if (verdict === 'accepted' || verdict === 'unasked') {
      this.#join((events) => consultation.handOver(events))
      return
    }
    consultation.handOver(NOBODY)
    leg.close('refused')
    this.#second = undefined
    this.#fail(REASONS[verdict])
  }

  #join(listen: (events: LegEvents) => void): void {
    const { leg, clock } = this.#host
    const second = this.#second!
    this.#quiet()
    this.#toSecond = relay(leg.format, second.format, clock)
    const toFirst = relay(second.format, leg.format, clock)
    this.#host.tell({ type: 'transfer_done', to: this.#order.to })
    leg.clear()
    this.#host.joined()
    listen({
      audio: (bytes, timestamp) => {
        for (const run of toFirst(bytes, timestamp)) {
          sendLate(leg, run)
          this.#host.heard(run)
        }
      },
      dtmf: (digit) => leg.sendDtmf?.(digit),
      ended: () => {
        if (this.#over) return
        this.#over = true
        this.#host.left()
      },
      text: () => undefined,
      played: () => undefined,
    })
    this.#result.resolve({ ok: true })
  }

  #fail(reason: string): void {
    if (this.#over || this.isJoined) return
    this.#over = true
    this.#quiet()
    this.#host.tell({ type: 'transfer_failed', to: this.#order.to, reason })
    this.#result.resolve({ ok: false, reason })
  }

  #fault(sentence: string): void {
    this.#host.log.warn({ callId: this.#host.callId }, sentence)
    this.#host.tell({ type: 'fault', stage: 'line', sentence })
  }

  #quiet(): void {
    this.#music.stop()
    this.#host.leg.music?.(false)
    this.#host.leg.ringing?.(undefined)
  }
}

const REASONS = {
  refused: 'they refused the call',
  unanswered: 'they picked up and said neither yes nor no',
  failed: 'they picked up, but could not be asked',
} as const

const NOBODY: LegEvents = {
  audio: () => undefined,
  text: () => undefined,
  dtmf: () => undefined,
  played: () => undefined,
  ended: () => undefined,
}

/** Audio relayed from the other leg; the delay is bounded. */
function sendLate(leg: Leg | undefined, bytes: Uint8Array): void {
  if (leg?.relayAudio !== undefined) leg.relayAudio(bytes)
  else leg?.sendAudio(bytes)
}

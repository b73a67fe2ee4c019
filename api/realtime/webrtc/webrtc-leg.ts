import type { AudioFormat, LegEvents } from '../../../runtime/call/types/leg.ts'
import { boundary, inBackground } from '../../../runtime/lib/async/boundary.ts'
import { OPUS_CLOCK_HZ, opusDurationMs } from '../../../runtime/media/codecs/opus-packet.ts'
import { OPUS_RATE_HZ } from '../../../runtime/media/codecs/opus-repair.ts'
import type { Pacer } from '../../../runtime/media/line/pacer.ts'
import { ringback } from '../../../runtime/media/tones/ringback.ts'
import type { Logger } from '../../../runtime/process/log.ts'
import { MessageGate } from '../gate.ts'
import type { ClientMessage } from '../messages.ts'
import { RealtimeLeg, type RealtimeLegOptions } from '../realtime-leg.ts'
import type { MediaTransport, MediaTransportEvents } from './media-transport.ts'
import { OpusSender } from './opus-sender.ts'

/** Timeout of an unanswered offer, or of an answer that doesn't connect. */
const CONNECT_TIMEOUT_MS = 10_000
/**
 * Our side of the handshake is over before the client's: the last of it may be lost, and is sent again after a second, and after two
 * more. A client that announced to say when it is connected, and neither does nor sends a packet in this time, is taken to be.
 */
const CLIENT_CONNECTED_MS = 4_000
const RESTART_EVERY_MS = 1_000
/** A transport that is lost is replaced at once, but not one after the other. */
const REOPEN_EVERY_MS = 1_000
/** What one of two joined callers says waits no longer than this to be sent to the other. */
const MAX_RELAYED_FRAMES = 10
const FIGURES_EVERY_MS = 30_000
/** At the end they are asked for once more; a worker that doesn't answer is dead. */
const FIGURES_TIMEOUT_MS = 300
/** No audio goes over the WebSocket; words wait in it, and beyond that here. */
const MAX_LINE_BYTES = 128 << 10

const CLOCK_RATIO = OPUS_CLOCK_HZ / OPUS_RATE_HZ

/** What a leg asks of its transport. */
type LegTransport = Pick<MediaTransport, 'offer' | 'answer' | 'restart' | 'send' | 'figures' | 'close'>

interface WebRtcLegOptions extends RealtimeLegOptions {
  /** Opens a transport, as soon as there is a worker. */
  open(events: MediaTransportEvents): Promise<LegTransport>
  pacer: Pacer
  log: Logger
  /** Called once, when it is over. */
  released(): void
}

/** How the setting up of a leg ended. `given_up`: the client left, or the node stops. */
type Connection = 'connected' | 'failed' | 'given_up'

/** The leg of a realtime session over WebRTC: Opus over a transport of the media worker, agreed on over the WebSocket. */
export class WebRtcLeg extends RealtimeLeg {
  readonly format: AudioFormat = { encoding: 'opus', sampleRateHz: OPUS_RATE_HZ }
  readonly #options: WebRtcLegOptions
  readonly #sender = new OpusSender()
  /** Packets, as the line counts messages. */
  readonly #gate: MessageGate
  readonly #connection = Promise.withResolvers<Connection>()
  readonly #timeout: NodeJS.Timeout
  /** Runs from the end of our side of the handshake to that of the client's. */
  #handshaken: NodeJS.Timeout | undefined
  /** The client announced to say so. */
  #saysConnected = false
  #clientConnected = false
  #transport: LegTransport | undefined
  #opening = false
  #openedAtMs = Number.NEGATIVE_INFINITY
  #restartedAtMs = Number.NEGATIVE_INFINITY
  #reopening: NodeJS.Timeout | undefined
  /** The last offer was answered. */
  #settled = false
  #leave: (() => void) | undefined
  #answered = false
  #over = false
  #figuresAtMs = 0
  /** Where the timestamps of this transport begin, in samples of the call; undefined until its first packet. */
  #base: number | undefined
  #heardTo = 0
  #heardAtMs: number | undefined

  constructor(options: WebRtcLegOptions) {
    super(options, MAX_LINE_BYTES)
    this.#options = options
    this.#gate = new MessageGate(options.clock.monotonicMs())
    this.#timeout = setTimeout(
      boundary('webrtc', () => this.#fail()),
      CONNECT_TIMEOUT_MS,
    )
    inBackground('webrtc', this.#open())
  }

  /** Resolves once both ways are open, or never will be. */
  get connection(): Promise<Connection> {
    return this.#connection.promise
  }

  override start(events: LegEvents): void {
    super.start(events)
    // The client may have left before anybody listened.
    if (this.#over) queueMicrotask(boundary('webrtc', () => events.ended('caller_hangup')))
  }

  answer(): void {
    if (this.#over) return
    this.#answered = true
    this.#figuresAtMs = this.clock.monotonicMs()
    this.#leave ??= this.#options.pacer.add((_frames, nowMs) => this.#tick(nowMs))
    const audio = { encoding: 'opus', sample_rate: OPUS_CLOCK_HZ } as const
    const resumable = { media: 'webrtc', resume_token: this.line.issueToken() ?? '' } as const
    this.line.started({ call_log_id: this.callId, audio, ...resumable })
  }

  sendAudio(bytes: Uint8Array): void {
    if (this.#over) return
    this.#sender.push(bytes)
    this.#send(this.clock.monotonicMs())
  }

  relayAudio(bytes: Uint8Array): void {
    if (this.#sender.queued < MAX_RELAYED_FRAMES) this.sendAudio(bytes)
  }

  ringing(number: string | undefined): void {
    const { format } = this
    this.#sender.setBackground(number === undefined ? undefined : (index) => ringback(format, number, index))
  }

  clear(): void {
    for (const id of this.#sender.clear()) this.events?.played(id)
    this.line.send({ type: 'audio.clear' })
  }

  mark(markId: number): void {
    if (!this.#over) this.#sender.mark(markId)
  }

  protected binary(): void {
    this.line.tell('unexpected_audio', 'Audio of this session goes over its peer connection')
  }

  protected override resumed(): void {
    // Who comes back does so from elsewhere, as a rule.
    if (this.#transport !== undefined) inBackground('webrtc', this.#restart(this.#transport))
  }

  protected signal(message: Extract<ClientMessage, { type: `webrtc.${string}` }>): void {
    if (message.type === 'webrtc.answer') {
      this.#saysConnected = message.says_connected === true
      inBackground('webrtc', this.#take(message.sdp))
      return
    }
    if (message.type === 'webrtc.connected') {
      // Of a handshake whose end is still on its way to us.
      this.#clientConnected = true
      if (this.#handshaken !== undefined) this.#connected()
      return
    }
    const nowMs = this.clock.monotonicMs()
    if (nowMs - this.#restartedAtMs < RESTART_EVERY_MS) {
      this.line.tell('too_many_restarts', 'A restart a second is enough')
      return
    }
    // Without a transport, an offer follows as soon as there is one.
    if (this.#transport !== undefined) inBackground('webrtc', this.#restart(this.#transport))
  }

  protected override released(): Promise<void> | undefined {
    if (this.#over) return undefined
    this.#over = true
    clearTimeout(this.#timeout)
    clearTimeout(this.#handshaken)
    clearTimeout(this.#reopening)
    this.#leave?.()
    this.#connection.resolve('given_up')
    this.#options.released()
    const transport = this.#transport
    this.#transport = undefined
    return transport === undefined ? undefined : this.#lastFigures(transport)
  }

  async #lastFigures(transport: LegTransport): Promise<void> {
    const late = new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), FIGURES_TIMEOUT_MS).unref())
    const figures = await Promise.race([transport.figures().catch(() => undefined), late])
    if (figures !== undefined) this.events?.media?.(figures)
    transport.close()
  }

  async #open(): Promise<void> {
    if (this.#over || this.#opening) return
    this.#opening = true
    this.#openedAtMs = this.clock.monotonicMs()
    try {
      const transport = await this.#options.open({
        packet: (payload, timestamp) => this.#packet(payload, timestamp),
        connected: () => this.#handshakeOver(),
        lost: () => this.#lost(),
      })
      this.#opening = false
      if (this.#over) return transport.close()
      this.#transport = transport
      this.#clientConnected = false
      this.#base = undefined
      this.#offer(transport.offer())
    } catch (err) {
      this.#opening = false
      if (this.#over) return
      this.#options.log.warn({ err, callId: this.callId }, 'No media transport could be opened for a call')
      this.#lost()
    }
  }

  #offer(sdp: string): void {
    this.#settled = false
    this.line.send({ type: 'webrtc.offer', sdp })
  }

  async #take(sdp: string): Promise<void> {
    const transport = this.#transport
    if (transport === undefined || this.#settled) {
      this.line.tell('unexpected_answer', 'There is no offer to be answered')
      return
    }
    this.#settled = true
    try {
      const verdict = await transport.answer(sdp)
      if (verdict === 'taken' || transport !== this.#transport) return
      this.#settled = false
      if (verdict === 'invalid')
        this.error('invalid_answer', 'The answer is none to the offer: it needs one line of Opus')
      else
        this.error('invalid_answer', 'The answer is of another peer connection: close the session and open a new one')
    } catch (err) {
      this.#settled = false
      this.#options.log.info({ err, callId: this.callId }, 'The answer of a browser was refused')
      this.error('invalid_answer', 'The answer was refused')
    }
  }

  async #restart(transport: LegTransport): Promise<void> {
    this.#restartedAtMs = this.clock.monotonicMs()
    try {
      const offer = await transport.restart()
      if (transport === this.#transport) this.#offer(offer)
    } catch (err) {
      // Its worker died: another transport takes its place.
      this.#options.log.debug({ err, callId: this.callId }, 'A transport could not be restarted')
    }
  }

  #handshakeOver(): void {
    if (this.#over) return
    clearTimeout(this.#handshaken)
    if (this.#clientConnected || !this.#saysConnected) this.#connected()
    else
      this.#handshaken = setTimeout(
        boundary('webrtc', () => this.#connected()),
        CLIENT_CONNECTED_MS,
      )
  }

  /** The client hears what is sent. */
  #connected(): void {
    clearTimeout(this.#handshaken)
    clearTimeout(this.#timeout)
    this.#connection.resolve('connected')
  }

  #lost(): void {
    this.#transport = undefined
    clearTimeout(this.#handshaken)
    this.#handshaken = undefined
    const waitMs = this.#openedAtMs + REOPEN_EVERY_MS - this.clock.monotonicMs()
    clearTimeout(this.#reopening)
    this.#reopening = setTimeout(
      boundary('webrtc', () => inBackground('webrtc', this.#open())),
      Math.max(0, waitMs),
    )
  }

  #fail(): void {
    // Our keys were agreed late: a client that announced a confirmation is taken as connected.
    if (this.#handshaken !== undefined) {
      this.#connected()
      return
    }
    this.#connection.resolve('failed')
    this.close('connection_failed')
  }

  #packet(payload: Uint8Array, timestamp: number): void {
    const nowMs = this.clock.monotonicMs()
    const verdict = this.#gate.message(nowMs)
    if (verdict === 'close') this.#flooded()
    if (verdict !== 'pass' || this.#over) return
    if (!this.#answered) {
      // Nothing is sent before the keys are agreed on.
      this.#connected()
      return
    }
    const durationMs = opusDurationMs(payload)
    if (!this.#gate.audio(durationMs, nowMs)) {
      this.line.tell('fast_audio', 'Audio arrives faster than it plays; what is too early is dropped')
      return
    }
    const samples = timestamp / CLOCK_RATIO
    if (this.#base === undefined) {
      // Another transport counts anew; what lies between is time in which nothing was heard.
      const awayMs = this.#heardAtMs === undefined ? 0 : nowMs - this.#heardAtMs
      this.#base = this.#heardTo + Math.round((awayMs * OPUS_RATE_HZ) / 1000) - samples
    }
    const at = Math.max(0, Math.round(this.#base + samples))
    this.#heardTo = at + (durationMs * OPUS_RATE_HZ) / 1000
    this.#heardAtMs = nowMs
    this.events?.audio(payload, at)
  }

  #flooded(): void {
    if (this.#over) return
    this.#options.log.warn({ callId: this.callId }, 'A browser exceeded the packet limit: its session was ended')
    this.line.close('policy_violation')
    inBackground('webrtc', this.released())
    this.events?.ended('policy_violation')
  }

  #tick(nowMs: number): void {
    this.#send(nowMs)
    const transport = this.#transport
    if (transport === undefined || nowMs - this.#figuresAtMs < FIGURES_EVERY_MS) return
    this.#figuresAtMs = nowMs
    transport.figures().then(
      (figures) => figures !== undefined && !this.#over && this.events?.media?.(figures),
      () => undefined,
    )
  }

  #send(nowMs: number): void {
    const { frames, reached } = this.#sender.take(nowMs)
    for (const frame of frames) this.#transport?.send(frame)
    for (const id of reached) this.events?.played(id)
  }
}

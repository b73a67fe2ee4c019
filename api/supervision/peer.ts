import { boundary, inBackground } from '../../runtime/lib/async/boundary.ts'
import type { Clock } from '../../runtime/lib/clock.ts'
import { OpusEncoder } from '../../runtime/media/codecs/opus.ts'
import { OPUS_CLOCK_HZ, opusDurationMs } from '../../runtime/media/codecs/opus-packet.ts'
import { OPUS_RATE_HZ } from '../../runtime/media/codecs/opus-repair.ts'
import { Resampler } from '../../runtime/media/dsp/resample.ts'
import { bytesOf, concatSamples, samplesOf, samplesPerFrame } from '../../runtime/media/frame.ts'
import type { Pacer } from '../../runtime/media/line/pacer.ts'
import { receiverFor } from '../../runtime/media/line/receiver.ts'
import type { Logger } from '../../runtime/process/log.ts'
import { MessageGate } from '../realtime/gate.ts'
import type { MediaTransport, MediaTransportEvents } from '../realtime/webrtc/media-transport.ts'
import { OpusSender } from '../realtime/webrtc/opus-sender.ts'
import type { SupervisorSignal, ToSupervisor } from './messages.ts'

/** Who has no way open by then has a network without one. */
const CONNECT_TIMEOUT_MS = 10_000
const RESTART_EVERY_MS = 1_000
/** A transport whose worker died is replaced, but not one after the other. */
const REOPEN_EVERY_MS = 1_000
const MICROPHONE = { encoding: 'opus', sampleRateHz: OPUS_RATE_HZ } as const
const JITTER = { maxWaitMs: 60, maxFillMs: 1_000 }
const CLOCK_RATIO = OPUS_CLOCK_HZ / OPUS_RATE_HZ
const FRAME = samplesPerFrame(OPUS_RATE_HZ)
const SIDES = 2

/** Where a supervisor's media come from: WebRTC of this node. */
interface PeerMedia {
  open(events: MediaTransportEvents): Promise<MediaTransport>
  readonly pacer: Pacer
}

interface SupervisorPeerOptions {
  media: PeerMedia
  clock: Clock
  log: Logger
  tell(message: ToSupervisor): void
  /** What the supervisor says: 16-bit mono at the rate of the call. */
  said(pcm: Uint8Array): void
  /** There is no way between them, or its packets have no end. */
  failed(): void
}

/**
 * A supervisor's sound over a peer connection, agreed on over their socket: both sides of the call in stereo to them, their
 * microphone back. No method throws.
 */
export class SupervisorPeer {
  readonly #options: SupervisorPeerOptions
  readonly #gate: MessageGate
  readonly #timeout: NodeJS.Timeout
  readonly #encoder = new OpusEncoder(OPUS_RATE_HZ, SIDES)
  readonly #sender = new OpusSender()
  #receiver = receiverFor(MICROPHONE, JITTER)
  #transport: MediaTransport | undefined
  #openedAtMs = Number.NEGATIVE_INFINITY
  #restartedAtMs = Number.NEGATIVE_INFINITY
  #reopening: NodeJS.Timeout | undefined
  /** The last offer was answered. */
  #settled = false
  /** The client announced a confirmation; until then it counts as unconnected, whatever our end reports. */
  #saysConnected = false
  #closed = false
  #leave: (() => void) | undefined
  /** Known once the call is joined. */
  #resamplers: { left: Resampler; right: Resampler; microphone: Resampler } | undefined
  /** Of both sides, interleaved: what is no whole frame yet. */
  #rest = new Int16Array(0)
  /** The caller hears this supervisor, who needs no second time to. */
  hasCall = false

  constructor(options: SupervisorPeerOptions) {
    this.#options = options
    this.#gate = new MessageGate(options.clock.monotonicMs())
    this.#timeout = setTimeout(
      boundary('webrtc', () => this.#fail()),
      CONNECT_TIMEOUT_MS,
    )
    inBackground('webrtc', this.#open())
  }

  /** The call is heard from here on, in samples at this rate. */
  begin(sampleRateHz: number): void {
    const toPeer = () => new Resampler(sampleRateHz, OPUS_RATE_HZ)
    this.#resamplers = { left: toPeer(), right: toPeer(), microphone: new Resampler(OPUS_RATE_HZ, sampleRateHz) }
    this.#leave ??= this.#options.media.pacer.add((_frames, nowMs) => {
      this.#say(this.#receiver.tick(nowMs))
      this.#send(nowMs)
    })
  }

  /** Both sides as interleaved 16-bit stereo: the caller left, the agent right. */
  heard(pcm: Uint8Array): void {
    if (this.#closed || this.#resamplers === undefined) return
    const samples = samplesOf(pcm)
    const side = (of: 0 | 1) => Int16Array.from({ length: samples.length >> 1 }, (_, i) => samples[2 * i + of]!)
    const left = this.#resamplers.left.push(side(0))
    const right = this.#resamplers.right.push(side(1))
    const both = new Int16Array(2 * left.length)
    for (let i = 0; i < left.length; i++) {
      both[2 * i] = left[i]!
      both[2 * i + 1] = this.hasCall ? 0 : (right[i] ?? 0)
    }
    const all = concatSamples(this.#rest, both)
    let at = 0
    for (; at + SIDES * FRAME <= all.length; at += SIDES * FRAME) {
      this.#sender.push(this.#encoder.encode(all.subarray(at, at + SIDES * FRAME)))
    }
    this.#rest = all.slice(at)
    this.#send(this.#options.clock.monotonicMs())
  }

  signal(message: SupervisorSignal): void {
    if (this.#closed) return
    if (message.type === 'webrtc.answer') {
      this.#saysConnected = message.says_connected === true
      inBackground('webrtc', this.#take(message.sdp))
      return
    }
    if (message.type === 'webrtc.connected') {
      clearTimeout(this.#timeout)
      return
    }
    const nowMs = this.#options.clock.monotonicMs()
    if (nowMs - this.#restartedAtMs < RESTART_EVERY_MS) {
      this.#tellError('too_many_restarts', 'A restart a second is enough')
      return
    }
    this.#restartedAtMs = nowMs
    // Without a transport, an offer follows as soon as there is one.
    if (this.#transport !== undefined) inBackground('webrtc', this.#restart(this.#transport))
  }

  close(): void {
    this.#closed = true
    clearTimeout(this.#timeout)
    clearTimeout(this.#reopening)
    this.#leave?.()
    this.#transport?.close()
    this.#transport = undefined
  }

  async #open(): Promise<void> {
    const { media, clock, log } = this.#options
    this.#openedAtMs = clock.monotonicMs()
    try {
      const transport = await media.open({
        packet: (payload, timestamp) => this.#packet(payload, timestamp),
        connected: () => {
          if (!this.#saysConnected) clearTimeout(this.#timeout)
        },
        lost: () => this.#lost(),
      })
      if (this.#closed) return transport.close()
      this.#transport = transport
      // Its timestamps begin anew.
      this.#receiver = receiverFor(MICROPHONE, JITTER)
      this.#offer(transport.offer())
    } catch (err) {
      if (this.#closed) return
      log.warn({ err }, 'No media transport could be opened for a supervisor')
      this.#lost()
    }
  }

  #offer(sdp: string): void {
    this.#settled = false
    this.#options.tell({ type: 'webrtc.offer', sdp })
  }

  async #take(sdp: string): Promise<void> {
    const transport = this.#transport
    if (transport === undefined || this.#settled) {
      this.#tellError('unexpected_answer', 'There is no offer to be answered')
      return
    }
    this.#settled = true
    const verdict = await transport.answer(sdp).catch((err) => {
      this.#options.log.info({ err }, 'The answer of a browser was refused')
      return 'invalid' as const
    })
    if (verdict === 'taken' || transport !== this.#transport) return
    this.#settled = false
    this.#tellError('invalid_answer', 'The answer is none to the offer')
  }

  async #restart(transport: MediaTransport): Promise<void> {
    try {
      const offer = await transport.restart()
      if (transport === this.#transport) this.#offer(offer)
    } catch (err) {
      // Its worker died: another transport takes its place.
      this.#options.log.debug({ err }, 'A transport could not be restarted')
    }
  }

  #lost(): void {
    this.#transport = undefined
    if (this.#closed) return
    const waitMs = this.#openedAtMs + REOPEN_EVERY_MS - this.#options.clock.monotonicMs()
    clearTimeout(this.#reopening)
    this.#reopening = setTimeout(
      boundary('webrtc', () => inBackground('webrtc', this.#open())),
      Math.max(0, waitMs),
    )
  }

  #fail(): void {
    if (this.#closed) return
    this.close()
    this.#options.failed()
  }

  #packet(payload: Uint8Array, timestamp: number): void {
    const nowMs = this.#options.clock.monotonicMs()
    const verdict = this.#gate.message(nowMs)
    if (verdict === 'close') this.#fail()
    // Nothing is sent before the keys are agreed on.
    clearTimeout(this.#timeout)
    // Only the supervisor who has the call is heard.
    if (verdict !== 'pass' || this.#closed || !this.#gate.audio(opusDurationMs(payload), nowMs)) return
    this.#say(this.#receiver.push(payload, Math.round(timestamp / CLOCK_RATIO), nowMs))
  }

  #say(runs: readonly Int16Array[]): void {
    if (!this.hasCall || this.#resamplers === undefined) return
    for (const run of runs) {
      const samples = this.#resamplers.microphone.push(run)
      if (samples.length > 0) this.#options.said(bytesOf(samples))
    }
  }

  #send(nowMs: number): void {
    for (const frame of this.#sender.take(nowMs).frames) this.#transport?.send(frame)
  }

  #tellError(code: string, message: string): void {
    this.#options.tell({ type: 'error', code, message })
  }
}

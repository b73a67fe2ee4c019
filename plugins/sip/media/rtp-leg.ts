import type { AudioFormat, CarrierFigures, Leg, LegEndReason, LegEvents } from '../../../runtime/call/types/leg.ts'
import { boundary } from '../../../runtime/lib/async/boundary.ts'
import type { Clock } from '../../../runtime/lib/clock.ts'
import { LINE_CODECS } from '../../../runtime/media/codecs/line-codec.ts'
import { lastLoud, samplesPerFrame } from '../../../runtime/media/frame.ts'
import { LineAudio, sessionFormatFor } from '../../../runtime/media/line/line-audio.ts'
import type { Pacer } from '../../../runtime/media/line/pacer.ts'
import { type RtpPacket, readRtp, writeRtp } from '../../../runtime/media/line/rtp-packet.ts'
import { isKeys } from '../../../runtime/media/tones/dtmf.ts'
import { DtmfDetector } from '../../../runtime/media/tones/dtmf-detector.ts'
import { holdMusic } from '../../../runtime/media/tones/hold-music.ts'
import { ringback } from '../../../runtime/media/tones/ringback.ts'
import type { TransferCase } from '../../../runtime/plugin-sdk/telephony/carrier.ts'
import type { Logger } from '../../../runtime/process/log.ts'
import { FirstWords } from './first-words.ts'
import { KeyPresses } from './key-presses.ts'
import { LineQuality } from './line-quality.ts'
import type { MediaPair } from './media-ports.ts'
import { MediaReports } from './media-reports.ts'
import { type MediaAddress, MediaSource } from './media-source.ts'
import type { Agreement, CodecName, SrtpTerms } from './offer-answer.ts'
import { RtpReceiver } from './rtp-receiver.ts'
import { type Random, RtpSender } from './rtp-sender.ts'
import { SrtpStream } from './srtp.ts'

/** No packet yet: the other side may still be setting up, or behind a router that must open first. */
const FIRST_MEDIA_TIMEOUT_MS = 30_000
const MEDIA_TIMEOUT_MS = 15_000
/** After this long without a packet, the sender is taken to be silent, and silence takes its place. */
const SILENT_AFTER_MS = 100
/** A pause, in which lost time is made up for: no sample louder than this. */
const QUIET_PEAK = 200
/** RFC 3389: what the silence between two stretches of speech sounds like. */
const COMFORT_NOISE = 13
/** What one of two joined callers says waits no longer than this to be sent to the other. */
const MAX_RELAYED_FRAMES = 10

/** What may be done to a call from outside. */
export interface CallControl {
  hangUp(): void
  /** Absent while the call is not answered. */
  transfer?(to: string, by: TransferCase): Promise<Referral>
}

/** The result of a REFER. `refused`: the other side doesn't accept it. */
export type Referral = 'taken' | 'refused' | 'failed'

/** What a leg asks of the call's signalling. */
export interface LegControl {
  /** The agent is there: answer the call. */
  answer(): void
  /** The session is over: end the call, in any state. */
  hangUp(reason: string): void
  /** Asks the other side to call there itself. */
  transfer(to: string, by: TransferCase): Promise<Referral>
}

export interface RtpLegOptions {
  pair: MediaPair
  agreement: Agreement
  control: LegControl
  /** May media of this call come from there? */
  allows(address: string): boolean
  /** Called once, when nothing is sent or received any more. */
  released(): void
  pacer: Pacer
  clock: Clock
  random: Random
  log: Logger
}

/** A phone call's media: RTP both ways over one pair of UDP ports. */
export class RtpLeg implements Leg {
  readonly format: AudioFormat
  readonly #options: RtpLegOptions
  readonly #sender: RtpSender
  readonly #receiver: RtpReceiver
  readonly #line: LineAudio
  readonly #source: MediaSource
  readonly #quality: LineQuality
  readonly #reports: MediaReports
  readonly #silence: Uint8Array
  readonly #keys: DtmfDetector
  readonly #presses = new KeyPresses()
  #agreement: Agreement
  /** Encryption, by direction; undefined: plain. */
  #srtp: { terms: SrtpTerms; out: SrtpStream; in: SrtpStream } | undefined
  #events: LegEvents | undefined
  #leave: (() => void) | undefined
  #over = false
  /** Not answered yet. */
  #early = false
  #endReason: LegEndReason | undefined
  /** No listener yet: the callee's first words are awaited. */
  #awaited:
    | {
        words: FirstWords
        untilMs: number
        said: { bytes: Uint8Array; timestamp: number }[]
        done: (() => void) | undefined
      }
    | undefined
  #heardMs: number | undefined
  #audioMs: number | undefined
  #sinceMs = 0
  #strangers = 0
  /** What the carrier knows of the call. */
  #figures: CarrierFigures | undefined

  constructor(options: RtpLegOptions) {
    this.#options = options
    this.#agreement = options.agreement
    this.#encrypt(options.agreement.srtp)
    const { agreement } = options
    this.format = sessionFormatFor(agreement.codec)
    const { sampleRateHz } = this.format
    this.#line = new LineAudio(this.format, agreement.codec)
    this.#silence = this.#line.bytesOf(new Int16Array(samplesPerFrame(sampleRateHz)))
    this.#sender = new RtpSender(this.format, options.random)
    this.#receiver = new RtpReceiver({ clockHz: this.#line.clockHz, sampleRateHz })
    this.#source = new MediaSource(agreement, options.allows)
    this.#quality = new LineQuality(this.#receiver, () => this.#agreement.codec)
    this.#keys = new DtmfDetector(sampleRateHz)
    this.#reports = new MediaReports({
      ...{ clock: options.clock, sender: this.#sender, receiver: this.#receiver },
      name: `${options.random.bits(32).toString(36)}@patchbay`,
      target: () => ({ address: this.#source.target.address, port: this.#agreement.rtcpPort }),
      send: (report, to) => options.pair.rtcp.send(this.#srtp?.out.protectRtcp(report) ?? report, to.port, to.address),
    })
    options.pair.rtp.receive(boundary('rtp', (bytes, from) => this.#received(bytes, from)))
    options.pair.rtcp.receive(boundary('rtp', (bytes, from) => this.#reported(bytes, from)))
  }

  /**
   * Calls back once the other side has said its first words and waits, or said none within `limitMs`, or is gone. What it said
   * meanwhile is delivered when the leg starts.
   */
  awaitWords(limitMs: number, done: () => void): void {
    const untilMs = this.#options.clock.monotonicMs() + limitMs
    this.#awaited = { words: new FirstWords(this.format.sampleRateHz), untilMs, said: [], done }
    if (this.#over) this.#wordsOver()
  }

  #wordsOver(): void {
    const done = this.#awaited?.done
    if (this.#awaited === undefined || done === undefined) return
    this.#awaited.done = undefined
    done()
  }

  /** Received speech, or silence in its place. */
  #hear(bytes: Uint8Array, timestamp: number): void {
    const awaited = this.#awaited
    if (awaited === undefined || this.#events !== undefined) {
      this.#events?.audio(bytes, timestamp)
      return
    }
    awaited.said.push({ bytes: bytes.slice(), timestamp })
    if (awaited.words.push(this.#line.samplesOf(bytes))) this.#wordsOver()
  }

  start(events: LegEvents): void {
    this.#events = events
    for (const { bytes, timestamp } of this.#awaited?.said ?? []) events.audio(bytes, timestamp)
    this.#awaited = undefined
    if (this.#figures !== undefined) events.carrier?.(this.#figures)
    const reason = this.#endReason
    if (reason !== undefined) queueMicrotask(boundary('rtp', () => events.ended(reason)))
  }

  answer(): void {
    if (this.#over) return
    this.#options.control.answer()
    this.connect()
  }

  /** Media flow from now on. */
  connect(): void {
    if (this.#over) return
    const early = this.#early
    this.#early = false
    if (this.#leave !== undefined && !early) return
    this.#sinceMs = this.#options.clock.monotonicMs()
    this.#reports.start(this.#sinceMs)
    this.#heardMs = undefined
    this.#audioMs = undefined
    this.#run()
  }

  /** Early media: ours open NATs, theirs is not the callee's speech yet. */
  ring(): void {
    if (this.#over || this.#leave !== undefined) return
    this.#early = true
    this.#sinceMs = this.#options.clock.monotonicMs()
    this.#reports.start(this.#sinceMs)
    this.#run()
  }

  #run(): void {
    this.#leave ??= this.#options.pacer.add((frames, nowMs) => this.#tick(frames, nowMs))
  }

  /** Not answered: the leg is discarded. Its ports stay with their owner. */
  abandon(): void {
    this.#over = true
    this.#leave?.()
  }

  /** Can the leg go on with this codec in the format it has? */
  suits(codec: Agreement['codec']): boolean {
    return sessionFormatFor(codec).sampleRateHz === this.format.sampleRateHz
  }

  get codec(): Agreement['codec'] {
    return this.#agreement.codec
  }

  sendAudio(bytes: Uint8Array): void {
    if (!this.#over) this.#sender.push(bytes)
  }

  /** Relayed audio of the other leg; bounded to 200 ms of delay. */
  relayAudio(bytes: Uint8Array): void {
    if (!this.#over && this.#sender.queuedFrames < MAX_RELAYED_FRAMES) this.#sender.push(bytes)
  }

  clear(): void {
    for (const id of this.#sender.clear()) this.#events?.played(id)
  }

  mark(markId: number): void {
    if (!this.#over) this.#sender.mark(markId)
  }

  /** It rings at this number, to which the call is to be led: heard wherever the agent says nothing. Undefined: no more. */
  ringing(number: string | undefined): void {
    const { format } = this
    this.#sender.setBackground(number === undefined ? undefined : (index) => ringback(format, number, index))
  }

  /** Music, wherever the agent says nothing. */
  music(on: boolean): void {
    const { format } = this
    this.#sender.setBackground(on ? (index) => holdMusic(format, index) : undefined)
  }

  /** Presses keys towards the other side. */
  sendDtmf(keys: string): void {
    if (!this.#over && isKeys(keys)) this.#sender.sendKeys(keys)
  }

  /** Has the other side call there itself, and leaves once it has. */
  async transfer(to: string, by: TransferCase): Promise<Referral> {
    if (this.#over) return 'failed'
    const result = await this.#options.control.transfer(to, by)
    if (result !== 'taken') return result
    this.ended('transferred')
    this.#options.control.hangUp('transferred')
    return result
  }

  agentState(): void {}
  transcript(): void {}
  error(): void {}

  close(reason: string): void {
    this.hangUp(reason)
  }

  /** Ends the call, also during a transfer. */
  hangUp(reason: string): void {
    if (!this.#release()) return
    this.#options.control.hangUp(reason)
  }

  /** The other side hung up, or is gone. */
  ended(reason: LegEndReason): void {
    if (!this.#release()) return
    this.#endReason = reason
    this.#events?.ended(reason)
    this.#wordsOver()
  }

  /** Something more is known of the call. */
  known(figures: CarrierFigures): void {
    this.#figures = { ...this.#figures, ...figures }
    this.#events?.carrier?.(this.#figures)
  }

  /** A key that came with the signalling. */
  keyPressed(key: string): void {
    this.#pressed(key, 'signalling')
  }

  #pressed(key: string, by: 'events' | 'signalling'): void {
    if (this.#over || !this.#presses.isNew(key, by, this.#options.clock.monotonicMs())) return
    this.#events?.dtmf(key)
  }

  /** Both sides agreed anew: hold, resume, or another address. */
  renegotiated(agreement: Agreement): void {
    const before = this.#agreement
    this.#agreement = agreement
    this.#encrypt(agreement.srtp)
    this.#tellHold(isHeld(before), isHeld(agreement))
    this.#source.rename(agreement)
    this.#line.use(agreement.codec)
    this.#receiver.retime(this.#line.clockHz)
    // After a hold the clock of the silence begins anew.
    this.#sinceMs = this.#options.clock.monotonicMs()
    this.#heardMs = undefined
    this.#audioMs = undefined
  }

  #encrypt(terms: SrtpTerms | undefined): void {
    const before = this.#srtp
    if (terms === undefined) {
      this.#srtp = undefined
      return
    }
    const { suite, ours, theirs, theirMkiBytes } = terms
    // Streams whose keys stay go on with their counters.
    const keeps = (which: 'ours' | 'theirs') =>
      before?.terms.suite === suite &&
      before.terms[which].equals(terms[which]) &&
      before.terms.theirMkiBytes === theirMkiBytes
    this.#srtp = {
      terms,
      out: before !== undefined && keeps('ours') ? before.out : new SrtpStream(suite, ours),
      in: before !== undefined && keeps('theirs') ? before.in : new SrtpStream(suite, theirs, theirMkiBytes),
    }
  }

  #tellHold(before: boolean, now: boolean): void {
    if (before === now || this.#leave === undefined) return
    if (now) this.#events?.held?.(this.#agreement.direction === 'recvonly' ? 'sendonly' : 'inactive')
    else this.#events?.resumed?.()
  }

  #release(): boolean {
    if (this.#over) return false
    this.#over = true
    if (this.#leave !== undefined) {
      this.#reports.send(this.#options.clock.monotonicMs(), true)
      this.#events?.media?.(this.#quality.figures(this.#options.clock.monotonicMs() - this.#sinceMs))
    }
    this.#leave?.()
    this.#options.released()
    return true
  }

  #tick(frames: number, nowMs: number): void {
    const { payloadType: audio, eventPayloadType: events, ptimeMs } = this.#agreement
    const silent = isHeld(this.#agreement)
    const { clockHz } = this.#line
    const eventClockHz = this.#agreement.eventClockHz ?? clockHz
    const line = { audio, events, eventClockHz, clockHz, ptimeMs }
    const { packets, reached } = this.#sender.tick(frames, nowMs, line, silent)
    const to = this.#source.target
    for (const packet of packets) {
      const payload = packet.payloadType === audio ? this.#line.toLine(packet.payload) : packet.payload
      const bytes = writeRtp({ ...packet, payload })
      this.#options.pair.rtp.send(this.#srtp?.out.protect(bytes) ?? bytes, to.port, to.address)
    }
    for (const id of reached) this.#events?.played(id)
    if (this.#audioMs !== undefined && nowMs - this.#audioMs > SILENT_AFTER_MS) {
      for (let i = 0; i < frames; i++) {
        const silence = this.#receiver.silence(this.#silence, samplesPerFrame(this.format.sampleRateHz))
        if (silence !== undefined) this.#hear(silence.payload, silence.timestamp)
      }
    }
    if (this.#reports.isDue(nowMs)) {
      this.#reports.send(nowMs, false)
      const figures = this.#quality.news(nowMs - this.#sinceMs)
      if (figures !== undefined) this.#events?.media?.(figures)
    }
    if (this.#awaited !== undefined && nowMs >= this.#awaited.untilMs) this.#wordsOver()
    this.#checkTimeout(nowMs)
  }

  /** A held call has nothing to say; the session timer watches it. */
  #checkTimeout(nowMs: number): void {
    const { direction } = this.#agreement
    if (this.#early || direction === 'sendonly' || direction === 'inactive') return
    const limitMs = this.#heardMs === undefined ? FIRST_MEDIA_TIMEOUT_MS : MEDIA_TIMEOUT_MS
    if (nowMs - (this.#heardMs ?? this.#sinceMs) < limitMs || this.#over) return
    this.#options.log.warn({ limitMs }, 'No media came from the other side: the call is ended')
    this.ended('connection_lost')
    this.#options.control.hangUp('connection_lost')
  }

  #received(bytes: Buffer, from: { address: string; port: number }): void {
    if (this.#over || this.#leave === undefined) return
    const plain = this.#srtp === undefined ? bytes : this.#srtp.in.unprotect(bytes)
    const packet = plain && readRtp(plain)
    if (packet === undefined) return
    const what = heldIn(packet.payloadType, this.#agreement)
    const nowMs = this.#options.clock.monotonicMs()
    if (!this.#isFrom(from, what !== undefined, nowMs)) return
    this.#heardMs = nowMs
    // Comfort noise is no audio, but its sequence numbers are not lost.
    if (what === undefined && packet.payloadType !== COMFORT_NOISE) return
    if (what !== undefined && what !== 'events') this.#receiver.retime(LINE_CODECS[what].clockHz)
    if (!this.#receiver.accept(packet, nowMs)) return
    if (what === 'events') {
      const key = this.#receiver.key(packet)
      if (key !== undefined) this.#pressed(key, 'events')
    } else if (what !== undefined) this.#audio(packet, what, nowMs)
  }

  #audio(packet: RtpPacket, codec: CodecName, nowMs: number): void {
    // Half a second at most: more is no telephone.
    if (packet.payload.length === 0 || packet.payload.length > 4_000) return
    // Music on hold is not speech.
    if (isHeld(this.#agreement)) return
    this.#audioMs = nowMs
    const bytes = this.#line.fromLine(packet.payload, codec)
    // Damaged, or all of it waits in the resampler.
    if (bytes.length === 0) return
    const samples = (bytes.length * samplesPerFrame(this.format.sampleRateHz)) / this.#silence.length
    const received = this.#receiver.audio(
      packet,
      bytes,
      samples,
      () => lastLoud(this.#line.samplesOf(bytes), QUIET_PEAK) < 0,
    )
    if (this.#agreement.eventPayloadType === undefined) {
      for (const key of this.#keys.push(this.#line.samplesOf(bytes))) this.#events?.dtmf(key)
    }
    if (received !== undefined) this.#hear(received.payload, received.timestamp)
  }

  /** Only packets of the one other side count; those of a codec we agreed on say where that is. */
  #isFrom(from: { address: string; port: number }, known: boolean, nowMs: number): boolean {
    const verdict = known ? this.#source.accept(from, nowMs) : 'waits'
    if (verdict === 'stranger' && this.#strangers++ === 0) {
      this.#options.log.warn({ from }, 'Media from an unknown address is dropped')
    }
    return verdict === 'taken' || (!known && this.#source.isCurrent(from))
  }

  #reported(bytes: Buffer, from: MediaAddress): void {
    if (this.#over) return
    const plain = this.#srtp === undefined ? bytes : this.#srtp.in.unprotectRtcp(bytes)
    const report = plain && this.#reports.take(plain, from)
    if (report === undefined) return
    this.#quality.reported(report, this.#options.clock.nowMs())
    if (this.#heardMs !== undefined) this.#heardMs = this.#options.clock.monotonicMs()
  }
}

/** What a packet of this payload type holds; undefined: nothing that was agreed on. */
function heldIn(payloadType: number, agreement: Agreement): CodecName | 'events' | undefined {
  const known = agreement.received?.get(payloadType)
  if (known !== undefined) return known
  if (payloadType === agreement.payloadType) return agreement.codec
  return payloadType === agreement.eventPayloadType ? 'events' : undefined
}

/** The other side wants to hear nothing: what it sends, if anything, is music. */
function isHeld({ direction }: Agreement): boolean {
  return direction === 'recvonly' || direction === 'inactive'
}

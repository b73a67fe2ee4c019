import type { AudioFormat, Leg, LegEndReason, LegEvents } from '../../../call/types/leg.ts'
import { boundary } from '../../../lib/async/boundary.ts'
import type { Clock } from '../../../lib/clock.ts'
import { packetSamples } from '../../../media/codecs/packet-samples.ts'
import type { StreamDialect, StreamEvent } from './dialect.ts'
import type { StreamSocket } from './socket.ts'

/** Audio kept until the stream is there; the oldest goes first, for a caller who comes late hears what is said now. */
const MAX_HELD_FRAMES = 500
/** Audio the socket may hold for a carrier that reads too slowly: about four seconds. */
const MAX_BUFFERED_BYTES = 64 * 1024
/** Marks the carrier may owe us. One more takes the oldest as played. */
const MAX_MARKS = 1_000
/** A call that was answered gets its stream within this, and a lost one again, or it is over. */
const STREAM_WAIT_MS = 10_000
const NORMAL = 1000
/** Carriers round to milliseconds: less than this between two packets is no gap. Nothing shorter than a packet is lost. */
const ROUNDING_MS = 10

interface StreamLegOptions {
  dialect: StreamDialect
  clock: Clock
  /** The session takes the call: a carrier that waits with its answer gives it now. */
  answered?: () => void
  /** The session closed the leg; `streaming`: its stream was open and is closed by now. */
  closed(reason: string, streaming: boolean): void
  /** The leg is over; `lost`: the call may go on at the carrier without us. Called once. */
  over?: (lost: boolean) => void
}

/**
 * A phone call whose media is a WebSocket of the carrier. The stream may come after the leg, and again after it was lost:
 * what the agent says meanwhile is held.
 */
export class StreamLeg implements Leg {
  readonly format: AudioFormat
  readonly #options: StreamLegOptions
  #events: LegEvents | undefined
  #socket: StreamSocket | undefined
  #streamId = ''
  #over = false
  #held: (Uint8Array | number)[] = []
  /** Marks sent and not come back, in order. */
  #marks: number[] = []
  #waiting: NodeJS.Timeout | undefined
  /** Samples of the caller before this stream, and the end of the last packet. */
  #baseSamples = 0
  #endSamples = 0
  #lostAtMs: number | undefined

  constructor(options: StreamLegOptions) {
    this.#options = options
    this.format = options.dialect.format
  }

  /** True while a stream of the call may be attached: none is open, and the call isn't over. */
  get wantsStream(): boolean {
    return !this.#over && this.#socket === undefined
  }

  get isOver(): boolean {
    return this.#over
  }

  start(events: LegEvents): void {
    this.#events = events
  }

  answer(): void {
    if (this.#over) return
    this.#options.answered?.()
    if (this.#socket === undefined) this.#awaitStream()
  }

  /** The media is here. */
  attach(socket: StreamSocket, streamId: string): void {
    clearTimeout(this.#waiting)
    this.#socket = socket
    this.#streamId = streamId
    if (this.#lostAtMs !== undefined) {
      const gapMs = this.#options.clock.monotonicMs() - this.#lostAtMs
      this.#baseSamples = this.#endSamples + Math.round((gapMs * this.format.sampleRateHz) / 1000)
      this.#lostAtMs = undefined
    }
    for (const item of this.#held.splice(0)) {
      if (typeof item === 'number') this.mark(item)
      else this.sendAudio(item)
    }
  }

  /** The stream broke off without a word. The carrier may open it again. */
  detach(): void {
    if (this.#over || this.#socket === undefined) return
    this.#socket = undefined
    this.#lostAtMs = this.#options.clock.monotonicMs()
    this.#returnMarks()
    this.#awaitStream()
  }

  /** What the stream says. */
  received(event: Exclude<StreamEvent, { type: 'start' }>): void {
    if (this.#over) return
    switch (event.type) {
      case 'media':
        this.#media(Buffer.from(event.payload, 'base64'), event.atMs)
        break
      case 'dtmf':
        this.#events?.dtmf(event.digit)
        break
      case 'mark':
        this.#played(event.name)
        break
      case 'stop':
        this.hangUp('caller_hangup')
    }
  }

  /** The call is over on the carrier's side. */
  hangUp(reason: LegEndReason): void {
    if (!this.#end(reason === 'connection_lost')) return
    this.#socket?.close(NORMAL, '')
    this.#socket = undefined
    this.#events?.ended(reason)
  }

  sendAudio(bytes: Uint8Array): void {
    if (this.#over) return
    const socket = this.#socket
    if (socket === undefined) {
      this.#held.push(bytes.slice())
      if (this.#held.length > MAX_HELD_FRAMES) this.#dropOldestHeld()
    } else if (socket.bufferedBytes() < MAX_BUFFERED_BYTES) {
      const payload = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
      socket.send(this.#options.dialect.media(this.#streamId, payload))
    }
  }

  clear(): void {
    if (this.#over) return
    const { dialect } = this.#options
    const held = this.#held.splice(0)
    for (const item of held) if (typeof item === 'number') this.#events?.played(item)
    this.#socket?.send(dialect.clear(this.#streamId))
    if (!dialect.clearReturnsMarks) this.#returnMarks()
  }

  mark(markId: number): void {
    if (this.#over) return
    if (this.#socket === undefined) {
      this.#held.push(markId)
      return
    }
    this.#marks.push(markId)
    this.#socket.send(this.#options.dialect.mark(this.#streamId, String(markId)))
    if (this.#marks.length > MAX_MARKS) this.#events?.played(this.#marks.shift()!)
  }

  agentState(): void {}
  transcript(): void {}
  error(): void {}

  close(reason: string): void {
    if (!this.#end(false)) return
    const socket = this.#socket
    this.#socket = undefined
    socket?.close(NORMAL, reason)
    this.#options.closed(reason, socket !== undefined)
  }

  #media(bytes: Uint8Array, atMs: number | undefined): void {
    if (bytes.length === 0) return
    const { sampleRateHz } = this.format
    // What was lost is skipped; a carrier's clock that goes back, or leaps, is not followed.
    const said = atMs === undefined ? 0 : this.#baseSamples + Math.round((atMs * sampleRateHz) / 1000)
    const leap = said - this.#endSamples
    const isGap = leap > (ROUNDING_MS * sampleRateHz) / 1000 && leap < 60 * sampleRateHz
    const timestamp = isGap ? said : this.#endSamples
    this.#endSamples = timestamp + packetSamples(this.format, bytes)
    this.#events?.audio(bytes, timestamp)
  }

  /** The carrier returns marks in order, so those before one that came back were played too. */
  #played(name: string): void {
    const at = this.#marks.indexOf(Number(name))
    if (at < 0) return
    for (const id of this.#marks.splice(0, at + 1)) this.#events?.played(id)
  }

  #returnMarks(): void {
    for (const id of this.#marks.splice(0)) this.#events?.played(id)
  }

  #dropOldestHeld(): void {
    const index = this.#held.findIndex((item) => typeof item !== 'number')
    if (index >= 0) this.#held.splice(index, 1)
  }

  #awaitStream(): void {
    clearTimeout(this.#waiting)
    this.#waiting = setTimeout(
      boundary('carrier', () => this.hangUp('connection_lost')),
      STREAM_WAIT_MS,
    )
  }

  #end(lost: boolean): boolean {
    if (this.#over) return false
    this.#over = true
    clearTimeout(this.#waiting)
    this.#held = []
    this.#marks = []
    this.#options.over?.(lost)
    return true
  }
}

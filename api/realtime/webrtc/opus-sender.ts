import { OPUS_SILENCE } from '../../../runtime/media/codecs/opus-packet.ts'
import { FRAME_MS } from '../../../runtime/media/frame.ts'

/** Speech that waits to be sent: a second of it. Beyond, the oldest is dropped. */
const MAX_QUEUED_FRAMES = 50
/** Speech may be so late before silence takes its place: the voice worker's beat and ours are not one. */
const SLACK_MS = 2 * FRAME_MS
/** Timers come a little early. */
const EARLY_MS = 2
/** The process stood still for longer: that time is skipped, not made up for. */
const MAX_LAG_MS = 5 * FRAME_MS
/** From here to the caller's ear: the jitter buffer of a browser. */
const PLAYOUT_MS = 60

/** A frame of 20 ms, and how many of them lie between it and the first one. */
export interface SentFrame {
  frame: Uint8Array
  position: number
}

/**
 * The agent's voice on its way to a browser: a frame every 20 ms, of speech as it comes or of silence, so that a browser
 * without packets knows that the line is dead. Pure: monotonic milliseconds are passed in.
 */
export class OpusSender {
  #queue: Uint8Array[] = []
  #position = 0
  #dueMs: number | undefined
  #enqueued = 0
  #sent = 0
  /** Marks behind the frame of that number. */
  #marks: { id: number; at: number }[] = []
  /** Marks whose sound is on its way to the ear. */
  #leaving: { id: number; heardMs: number }[] = []
  #background: ((index: number) => Uint8Array | undefined) | undefined
  #backgroundAt = 0

  get queued(): number {
    return this.#queue.length
  }

  push(frame: Uint8Array): void {
    this.#queue.push(frame.slice())
    this.#enqueued++
    if (this.#queue.length <= MAX_QUEUED_FRAMES) return
    this.#queue.shift()
    this.#sent++
  }

  mark(id: number): void {
    this.#marks.push({ id, at: this.#enqueued })
  }

  /** Drops what waits; returns the marks that are reached by that. */
  clear(): number[] {
    this.#queue = []
    this.#sent = this.#enqueued
    const reached = [...this.#leaving, ...this.#marks].map(({ id }) => id)
    this.#leaving = []
    this.#marks = []
    return reached
  }

  /** What sounds from now on where there is no speech; undefined: silence. */
  setBackground(frameAt: ((index: number) => Uint8Array | undefined) | undefined): void {
    this.#background = frameAt
    this.#backgroundAt = 0
  }

  /** What is to be sent now, and the marks that were heard. */
  take(nowMs: number): { frames: SentFrame[]; reached: number[] } {
    this.#dueMs ??= nowMs
    const lag = nowMs - this.#dueMs
    if (lag > MAX_LAG_MS) {
      const skipped = Math.floor(lag / FRAME_MS)
      this.#position += skipped
      this.#dueMs += skipped * FRAME_MS
    }
    const frames: SentFrame[] = []
    for (let frame = this.#next(nowMs); frame !== undefined; frame = this.#next(nowMs)) {
      frames.push({ frame, position: this.#position++ })
      this.#dueMs += FRAME_MS
    }
    while (this.#marks[0] !== undefined && this.#marks[0].at <= this.#sent) {
      this.#leaving.push({ id: this.#marks.shift()!.id, heardMs: nowMs + PLAYOUT_MS })
    }
    const reached: number[] = []
    while (this.#leaving[0] !== undefined && this.#leaving[0].heardMs <= nowMs) reached.push(this.#leaving.shift()!.id)
    return { frames, reached }
  }

  #next(nowMs: number): Uint8Array | undefined {
    const lateMs = nowMs + EARLY_MS - this.#dueMs!
    if (lateMs < 0) return undefined
    const speech = this.#queue.shift()
    if (speech !== undefined) {
      this.#sent++
      return speech
    }
    if (lateMs < SLACK_MS) return undefined
    return this.#background?.(this.#backgroundAt++) ?? OPUS_SILENCE
  }
}

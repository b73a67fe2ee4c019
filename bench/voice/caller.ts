import { firstLoud, lastLoud, samplesPerFrame } from '../../runtime/media/frame.ts'
import type { Pacer } from '../../runtime/media/line/pacer.ts'

const LOUD = 300
const AUDIBLE = 100

/** The caller at the other end of a conversation: speaks at the pace of speech, and notes when what was heard. */
export class Caller {
  readonly #rateHz: number
  readonly #frame: number
  readonly #leave: () => void
  #speech: Int16Array | undefined
  #at = 0
  #said: (() => void) | undefined
  /** Monotonic times of the first and last loud sample of the last thing said. */
  speechStartMs = 0
  speechEndMs = 0
  /** Monotonic times of the agent's sounds: the first since `listen`, and the last of all. */
  firstSoundMs: number | undefined
  lastSoundMs = 0
  frames = 0
  readonly gapsMs: number[] = []

  constructor(rateHz: number, pacer: Pacer, send: (samples: Int16Array) => void) {
    this.#rateHz = rateHz
    this.#frame = samplesPerFrame(rateHz)
    this.#leave = pacer.add((frames) => {
      for (let i = 0; i < frames; i++) send(this.#next())
    })
  }

  /** Resolves when the last sample was sent. */
  say(speech: Int16Array): Promise<void> {
    this.#speech = speech
    this.#at = 0
    this.speechStartMs = 0
    return new Promise((resolve) => {
      this.#said = resolve
    })
  }

  listen(): void {
    this.firstSoundMs = undefined
  }

  /** Takes a frame of the agent's voice. */
  hear(samples: Int16Array): void {
    const nowMs = performance.now()
    this.frames++
    const loud = firstLoud(samples, AUDIBLE)
    if (loud < 0) return
    if (nowMs - this.lastSoundMs < 200) this.gapsMs.push(nowMs - this.lastSoundMs)
    this.lastSoundMs = nowMs
    this.firstSoundMs ??= nowMs + (loud * 1000) / this.#rateHz
  }

  hangUp(): void {
    this.#leave()
  }

  #next(): Int16Array {
    const frame = new Int16Array(this.#frame)
    for (let i = 0; i < frame.length; i++) frame[i] = Math.round(Math.random() * 24 - 12)
    const speech = this.#speech
    if (speech === undefined) return frame
    const piece = speech.subarray(this.#at, this.#at + this.#frame)
    for (let i = 0; i < piece.length; i++) frame[i]! += piece[i]!
    this.#at += this.#frame
    const nowMs = performance.now()
    const first = firstLoud(piece, LOUD)
    const last = lastLoud(piece, LOUD)
    const msOf = (index: number) => nowMs - ((this.#frame - 1 - index) * 1000) / this.#rateHz
    if (first >= 0 && this.speechStartMs === 0) this.speechStartMs = msOf(first)
    if (last >= 0) this.speechEndMs = msOf(last)
    if (this.#at >= speech.length) {
      this.#speech = undefined
      this.#said?.()
    }
    return frame
  }
}

import { conceal, HISTORY_MS } from './conceal.ts'

/** What the buffer holds back at most while it waits for a late packet. */
const MAX_HELD_PACKETS = 50

interface JitterOptions {
  sampleRateHz: number
  /** How long a missing packet is waited for before silence takes its place. */
  maxWaitMs: number
  /** A hole longer than this is a new stream (a restarted sender), not a loss to be filled. */
  maxFillMs: number
  /** Fills a loss with the voice going on and fading, in place of silence at once. */
  conceal?: boolean
}

interface Held {
  timestamp: number
  samples: Int16Array
  atMs: number
}

/**
 * Puts packets into order by timestamp and fills what was lost, so that what follows sees one
 * unbroken run of samples. Packets that arrive in order pass at once: no delay is added to a clean line. Holds 50
 * packets at most; beyond, the oldest hole is given up. Pure: time is passed in.
 */
export class JitterBuffer {
  readonly #samplesPerMs: number
  readonly #maxWaitMs: number
  readonly #maxFillSamples: number
  readonly #held: Held[] = []
  readonly #sampleRateHz: number
  readonly #conceals: boolean
  /** The last that was passed on, for what may have to go on from it: the end of `#history` is full. */
  readonly #history: Int16Array
  #historyLength = 0
  #expected: number | undefined
  /** Of the last packet, in full. */
  #lastTimestamp = 0
  /** Samples that never came, packets that came too late, and their samples. */
  lost = 0
  late = 0
  lateSamples = 0

  constructor(options: JitterOptions) {
    this.#samplesPerMs = options.sampleRateHz / 1000
    this.#sampleRateHz = options.sampleRateHz
    this.#conceals = options.conceal ?? false
    this.#history = new Int16Array(this.#conceals ? HISTORY_MS * this.#samplesPerMs : 0)
    this.#maxWaitMs = options.maxWaitMs
    this.#maxFillSamples = options.maxFillMs * this.#samplesPerMs
  }

  /** The timestamp behind the last sample that was given out, beyond 32 bits where timestamps are. */
  get position(): number {
    return this.#lastTimestamp + (((this.#expected ?? 0) - this.#lastTimestamp) | 0)
  }

  /** Takes a packet; returns what is now in order. `timestamp` counts samples and may wrap at 32 bits. */
  push(samples: Int16Array, timestamp: number, nowMs: number): Int16Array[] {
    if (samples.length === 0) return []
    this.#lastTimestamp = timestamp
    this.#expected ??= timestamp | 0
    const ahead = ((timestamp | 0) - this.#expected) | 0
    if (ahead < 0 && -ahead < this.#maxFillSamples) {
      this.late++
      this.lateSamples += samples.length
      return []
    }
    if (ahead < 0 || ahead > this.#maxFillSamples) {
      const out = this.#release(nowMs, true)
      this.#expected = timestamp | 0
      return [...out, ...this.#pass(samples)]
    }
    if (ahead === 0) {
      const passed = this.#pass(samples)
      return this.#held.length === 0 ? passed : [...passed, ...this.#release(nowMs, false)]
    }
    this.#insert({ timestamp: timestamp | 0, samples, atMs: nowMs })
    return this.#release(nowMs, this.#held.length > MAX_HELD_PACKETS)
  }

  /** Gives up holes that were waited for long enough. Call it once a tick. */
  tick(nowMs: number): Int16Array[] {
    return this.#held.length === 0 ? [] : this.#release(nowMs, false)
  }

  #pass(samples: Int16Array): Int16Array[] {
    this.#expected = (this.#expected! + samples.length) | 0
    if (this.#conceals)
      this.#remember(samples.length > this.#history.length ? samples.subarray(-this.#history.length) : samples)
    return [samples]
  }

  #remember(samples: Int16Array): void {
    this.#history.copyWithin(0, samples.length)
    this.#history.set(samples, this.#history.length - samples.length)
    this.#historyLength = Math.min(this.#history.length, this.#historyLength + samples.length)
  }

  #concealed(gap: number): Int16Array {
    return conceal(this.#history.subarray(this.#history.length - this.#historyLength), gap, this.#sampleRateHz)
  }

  #insert(packet: Held): void {
    let i = this.#held.length
    while (i > 0 && ((this.#held[i - 1]!.timestamp - packet.timestamp) | 0) > 0) i--
    if (i > 0 && this.#held[i - 1]!.timestamp === packet.timestamp) return
    this.#held.splice(i, 0, packet)
  }

  #release(nowMs: number, force: boolean): Int16Array[] {
    const out: Int16Array[] = []
    let next = this.#held[0]
    while (next !== undefined) {
      const gap = (next.timestamp - this.#expected!) | 0
      if (gap > 0) {
        if (!force && nowMs - next.atMs < this.#maxWaitMs) break
        this.lost += gap
        out.push(...this.#pass(this.#conceals ? this.#concealed(gap) : new Int16Array(gap)))
      }
      this.#held.shift()
      // A packet that overlaps what was passed keeps only its new part.
      const fresh = gap < 0 ? next.samples.subarray(Math.min(-gap, next.samples.length)) : next.samples
      if (fresh.length > 0) out.push(...this.#pass(fresh))
      next = this.#held[0]
    }
    return out
  }
}

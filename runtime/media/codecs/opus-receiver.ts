import { samplesPerFrame } from '../frame.ts'
import { OPUS_RATE_HZ, OpusRepair } from './opus-repair.ts'

/** Packets held at most; beyond, the oldest hole is given up. */
const MAX_HELD = 50
const FRAME = samplesPerFrame(OPUS_RATE_HZ)

interface Held {
  packet: Uint8Array
  timestamp: number
  atMs: number
}

/** How long a missing packet is waited for, and the longest hole that is filled. */
interface OpusReceiverOptions {
  maxWaitMs: number
  maxFillMs: number
}

/**
 * Puts Opus packets into order and makes one unbroken run of samples of them: the last lost packet of a hole is taken from the
 * one behind it where that carries it, the others are concealed. Packets in order pass at once. Pure: time is passed in.
 */
export class OpusReceiver {
  readonly #decoder = new OpusRepair()
  readonly #maxWaitMs: number
  readonly #maxFill: number
  readonly #held: Held[] = []
  #expected: number | undefined
  /** Of the last packet, in full. */
  #lastTimestamp = 0
  /** Samples that never came, and of packets that came too late. */
  lost = 0
  lateSamples = 0

  constructor({ maxWaitMs, maxFillMs }: OpusReceiverOptions) {
    this.#maxWaitMs = maxWaitMs
    this.#maxFill = (maxFillMs * OPUS_RATE_HZ) / 1000
  }

  /** The timestamp behind the last sample that was given out, beyond 32 bits where timestamps are. */
  get position(): number {
    return this.#lastTimestamp + (((this.#expected ?? 0) - this.#lastTimestamp) | 0)
  }

  /** `timestamp` counts samples at OPUS_RATE_HZ and may wrap at 32 bits. Returns what is now in order. */
  push(packet: Uint8Array, timestamp: number, nowMs: number): Int16Array[] {
    this.#lastTimestamp = timestamp
    this.#expected ??= timestamp | 0
    const ahead = ((timestamp | 0) - this.#expected) | 0
    if (ahead < 0 && -ahead < this.#maxFill) {
      this.lateSamples += FRAME
      return []
    }
    if (ahead < 0 || ahead > this.#maxFill) {
      const out = this.#release(nowMs, true)
      this.#expected = timestamp | 0
      return [...out, ...this.#pass(packet)]
    }
    if (ahead === 0) return [...this.#pass(packet), ...this.#release(nowMs, false)]
    this.#hold({ packet: packet.slice(), timestamp: timestamp | 0, atMs: nowMs })
    return this.#release(nowMs, this.#held.length > MAX_HELD)
  }

  /** Gives up holes that were waited for long enough. Call it once a tick. */
  tick(nowMs: number): Int16Array[] {
    return this.#held.length === 0 ? [] : this.#release(nowMs, false)
  }

  #hold(packet: Held): void {
    let i = this.#held.length
    while (i > 0 && ((this.#held[i - 1]!.timestamp - packet.timestamp) | 0) > 0) i--
    if (this.#held[i - 1]?.timestamp !== packet.timestamp) this.#held.splice(i, 0, packet)
  }

  #pass(packet: Uint8Array): Int16Array[] {
    const samples = this.#decoder.decode(packet)
    this.#expected = (this.#expected! + samples.length) | 0
    return samples.length === 0 ? [] : [samples]
  }

  #release(nowMs: number, force: boolean): Int16Array[] {
    const out: Int16Array[] = []
    for (let next = this.#held[0]; next !== undefined; next = this.#held[0]) {
      const gap = (next.timestamp - this.#expected!) | 0
      if (gap > 0) {
        if (!force && nowMs - next.atMs < this.#maxWaitMs) break
        this.lost += gap
        out.push(...this.#filled(gap, next.packet))
        this.#expected = next.timestamp
      }
      this.#held.shift()
      // What overlaps was heard already.
      if (gap >= 0) out.push(...this.#pass(next.packet))
    }
    return out
  }

  #filled(gap: number, next: Uint8Array): Int16Array[] {
    const runs: Int16Array[] = []
    let left = gap
    for (; left > FRAME; left -= FRAME) runs.push(this.#decoder.conceal(FRAME))
    runs.push(left === FRAME ? this.#decoder.recover(next, FRAME) : this.#decoder.conceal(left))
    return runs
  }
}

import { packetSamples } from '../../media/codecs/packet-samples.ts'
import { FRAME_MS } from '../../media/frame.ts'
import { CallerClock } from '../../media/line/caller-clock.ts'
import type { AudioFormat } from '../types/leg.ts'

/** Frames are one run unless they are this late, as a recording has them. */
const MAX_LATE_MS = 60
/** Maximum kept: an agent's turn is reported when it is over, and a minute of speech has few pauses this long. */
const MAX_RUNS = 256

/** Frames that came one after the other. Milliseconds from the answer. */
interface Run {
  /** By the worker's clock. */
  saidMs: number
  /** On the line. */
  lineMs: number
  lengthMs: number
}

/**
 * When something was on the line of which a worker tells: what the caller said by the timestamps of their sound, everything else
 * by the worker's own clock. That one began with the conversation and ours with the answer, and what it sends is on its way for
 * as long as both processes and the network are busy. Pure.
 */
export class LineTimes {
  #runs: Run[] = []
  /** What our clock shows beyond the worker's: as the frame that was fastest has it. */
  #aheadMs: number | undefined
  readonly #format: AudioFormat
  readonly #caller: CallerClock

  constructor(format: AudioFormat) {
    this.#format = format
    this.#caller = new CallerClock(format.sampleRateHz)
  }

  /** A packet of the caller came. Returns how many milliseconds later than it would have on a machine that is never busy. */
  heard(bytes: Uint8Array, timestamp: number, nowMs: number): number {
    const { sampleRateHz } = this.#format
    const now = Math.round((nowMs * sampleRateHz) / 1000)
    const length = packetSamples(this.#format, bytes)
    const { at } = this.#caller.hear(timestamp, length, now)
    return (Math.max(0, now - length - at) * 1000) / sampleRateHz
  }

  /** When the caller's sound of that timestamp was spoken; undefined: none came yet. */
  spoken(timestamp: number): number | undefined {
    const at = this.#caller.at(timestamp)
    return at === undefined ? undefined : Math.max(0, Math.round((at * 1000) / this.#format.sampleRateHz))
  }

  /**
   * A frame goes to the line.
   * @param saidMs when it left the worker, by its clock
   * @param nowMs now
   */
  frame(saidMs: number, nowMs: number): void {
    const last = this.#runs.at(-1)
    const follows = last !== undefined && Math.abs(saidMs - last.saidMs - last.lengthMs) < 1
    if (follows && nowMs - last.lineMs - last.lengthMs <= MAX_LATE_MS) {
      last.lengthMs += FRAME_MS
      return
    }
    // A frame that follows others may leave before its time, where the worker makes up for some; the first of a run leaves now.
    if (!follows) this.#aheadMs = Math.min(this.#aheadMs ?? Number.POSITIVE_INFINITY, nowMs - saidMs)
    const endMs = last === undefined ? Number.NEGATIVE_INFINITY : last.lineMs + last.lengthMs
    this.#runs.push({ saidMs, lineMs: nowMs - endMs > MAX_LATE_MS ? nowMs : endMs, lengthMs: FRAME_MS })
    if (this.#runs.length > MAX_RUNS) this.#runs.shift()
  }

  /** What was sent and not yet played is dropped. */
  cleared(nowMs: number): void {
    const last = this.#runs.at(-1)
    if (last !== undefined) last.lengthMs = Math.max(0, Math.min(last.lengthMs, nowMs - last.lineMs))
  }

  /** Another worker speaks, with a clock of its own. */
  forget(): void {
    this.#runs = []
    this.#aheadMs = undefined
  }

  /** A moment of the worker's clock by ours; as it is until the first frame came. */
  byOurs(workerMs: number): number {
    return Math.max(0, Math.round(workerMs + (this.#aheadMs ?? 0)))
  }

  /** When what was said at that moment of the worker's was on the line. */
  onLine(saidMs: number, edge: 'start' | 'end'): number {
    for (let i = this.#runs.length - 1; i >= 0; i--) {
      const run = this.#runs[i]!
      const intoMs = saidMs - run.saidMs
      // Times are reported in whole milliseconds: the end of one run must not match the start of the next.
      const isIn = edge === 'start' ? intoMs > -1 && intoMs < run.lengthMs - 1 : intoMs > 1 && intoMs < run.lengthMs + 1
      if (isIn) return Math.round(run.lineMs + intoMs)
    }
    return this.byOurs(saidMs)
  }
}

import { packetSamples } from '../media/codecs/packet-samples.ts'
import { CallerClock, type CallerPlace } from '../media/line/caller-clock.ts'
import type { AudioFormat } from './types/leg.ts'

/** Frames are one run unless they are this late. */
const MAX_LATE_MS = 60
/** Maximum kept: an agent's turn is reported when it is over, and a minute of speech has few pauses this long. */
const MAX_RUNS = 256

/** Frames that came one after the other. */
interface Run {
  /** By the worker's clock. */
  saidMs: number
  /** On the line, monotonic. */
  lineMs: number
  lengthMs: number
}

/** Where a packet of the caller stands, in samples since monotonic time began, and when it would have come on an idle machine. */
interface HeardPlace extends CallerPlace {
  readonly arrivedMs: number
}

/**
 * The one timeline of a call's sound: where each packet of the caller and each frame of the agent stands on the line, for the log, the
 * recording and everybody who listens in. What the caller said stands by the timestamps of their sound, what a worker says by that
 * worker's clock, which began with the conversation, and is on its way for as long as both processes and the network are busy. Pure.
 */
export class CallTimeline {
  readonly #format: AudioFormat
  readonly #callMs: (monotonicMs: number) => number
  readonly #caller: CallerClock
  #runs: Run[] = []
  /** Where the agent's next frame follows the last. */
  #agentEndMs = Number.NEGATIVE_INFINITY
  /** What our clock shows beyond the worker's: as the frame that was fastest has it. */
  #aheadMs: number | undefined

  /** @param callMs milliseconds since the answer */
  constructor(format: AudioFormat, callMs: (monotonicMs: number) => number) {
    this.#format = format
    this.#callMs = callMs
    this.#caller = new CallerClock(format.sampleRateHz)
  }

  /** A packet of the caller came. */
  heard(bytes: Uint8Array, timestamp: number, nowMs: number): HeardPlace {
    const now = this.#samplesIn(nowMs)
    const length = packetSamples(this.#format, bytes)
    const place = this.#caller.hear(timestamp, length, now)
    const late = Math.max(0, now - length - place.at)
    return { ...place, arrivedMs: nowMs - (late * 1000) / this.#format.sampleRateHz }
  }

  /** When the caller's sound of that timestamp was spoken, from the answer; undefined: none came yet. */
  spoken(timestamp: number): number | undefined {
    const at = this.#caller.at(timestamp)
    return at === undefined ? undefined : this.#reported((at * 1000) / this.#format.sampleRateHz)
  }

  /**
   * Sound for the caller goes to the line. Returns where it stands, monotonic.
   * @param saidMs when it left the worker, by its clock; undefined: it is a human's
   */
  said(bytes: Uint8Array, nowMs: number, saidMs?: number): number {
    const lengthMs = (packetSamples(this.#format, bytes) * 1000) / this.#format.sampleRateHz
    const isLate = nowMs - this.#agentEndMs > MAX_LATE_MS
    const lineMs = isLate ? nowMs : this.#agentEndMs
    this.#agentEndMs = lineMs + lengthMs
    if (saidMs === undefined) return lineMs
    const last = this.#runs.at(-1)
    const follows = last !== undefined && Math.abs(saidMs - last.saidMs - last.lengthMs) < 1
    // A frame that follows others may leave before its time, where the worker makes up for some; the first of a run leaves now.
    if (!follows) this.#aheadMs = Math.min(this.#aheadMs ?? Number.POSITIVE_INFINITY, nowMs - saidMs)
    if (follows && Math.abs(lineMs - last.lineMs - last.lengthMs) < 1) {
      last.lengthMs += lengthMs
      return lineMs
    }
    this.#runs.push({ saidMs, lineMs, lengthMs })
    if (this.#runs.length > MAX_RUNS) this.#runs.shift()
    return lineMs
  }

  /** What was sent and not yet played is dropped. Returns where it ends, monotonic. */
  cleared(nowMs: number): number {
    this.#agentEndMs = Math.min(this.#agentEndMs, nowMs)
    const last = this.#runs.at(-1)
    if (last !== undefined) last.lengthMs = Math.max(0, Math.min(last.lengthMs, nowMs - last.lineMs))
    return this.#agentEndMs
  }

  /** Another worker speaks, with a clock of its own. */
  forgetWorker(): void {
    this.#runs = []
    this.#aheadMs = undefined
  }

  /** A moment of the worker's clock, from the answer; as it is until the first frame came. */
  byOurs(workerMs: number): number {
    return this.#aheadMs === undefined ? Math.max(0, Math.round(workerMs)) : this.#reported(workerMs + this.#aheadMs)
  }

  /** When what was said at that moment of the worker's was on the line, from the answer. */
  onLine(saidMs: number, edge: 'start' | 'end'): number {
    const run = this.#runs.findLast(({ saidMs: fromMs, lengthMs }) => {
      const intoMs = saidMs - fromMs
      // Times are reported in whole milliseconds: the end of one run must not match the start of the next.
      return edge === 'start' ? intoMs > -1 && intoMs < lengthMs - 1 : intoMs > 1 && intoMs < lengthMs + 1
    })
    return run === undefined ? this.byOurs(saidMs) : this.#reported(run.lineMs + saidMs - run.saidMs)
  }

  #reported(monotonicMs: number): number {
    return Math.max(0, Math.round(this.#callMs(monotonicMs)))
  }

  #samplesIn(ms: number): number {
    return Math.round((ms * this.#format.sampleRateHz) / 1000)
  }
}

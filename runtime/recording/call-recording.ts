import type { AudioFormat } from '../call/types/leg.ts'
import { codecFor, type Decode } from '../media/codecs/codec.ts'
import { bytesOf } from '../media/frame.ts'
import { CallerClock } from '../media/line/caller-clock.ts'
import { AGENT, CALLER, StereoWindow } from './stereo.ts'

/** A recorder's view of a call: the leg's bytes, as they pass. No method throws. */
export interface CallTap {
  /**
   * `timestamp` counts samples and skips what was lost, as in LegEvents. `bytes` is valid during the call only.
   * @param nowMs monotonic, shared with other users of the same sound; default: now
   */
  caller(bytes: Uint8Array, timestamp: number, nowMs?: number): void
  agent(bytes: Uint8Array, nowMs?: number): void
  /** What was sent and not yet played is dropped. */
  cleared(nowMs?: number): void
  ended(): void
}

/** Where the sound goes; it never waits. */
export interface RecordingSink {
  write(bytes: Uint8Array): void
  end(): void
}

/** Audio this old is final: network jitter and a late tick are over by then. */
const SETTLE_MS = 1_000
/** Sound may stand this far ahead of the present, as a leg that plays from a buffer has it. */
const AHEAD_MS = 1_000
/** The agent's frames are one run unless they are this late. */
const MAX_LATE_MS = 60

/**
 * One call in stereo: the caller left, the agent right, aligned by the moment each was heard or sent. Holds two seconds of
 * sound and gives the rest away.
 */
export class CallRecording implements CallTap {
  readonly #ofCaller: Decode
  readonly #ofAgent: Decode
  readonly #rateHz: number
  readonly #window: StereoWindow
  readonly #sink: RecordingSink
  readonly #nowMs: () => number
  readonly #startedMs: number
  readonly #settleMs: number
  readonly #callerClock: CallerClock
  /** Where their next frame follows the last. */
  #agentAt = Number.NEGATIVE_INFINITY
  #over = false

  /**
   * `nowMs` is monotonic.
   * @param startMs when it begins; default: now
   * @param settleMs audio this old is final
   */
  constructor(
    format: AudioFormat,
    sink: RecordingSink,
    nowMs: () => number,
    { startMs = nowMs(), settleMs = SETTLE_MS }: { startMs?: number; settleMs?: number } = {},
  ) {
    this.#ofCaller = codecFor(format).decode
    this.#ofAgent = codecFor(format).decode
    this.#rateHz = format.sampleRateHz
    this.#settleMs = settleMs
    this.#window = new StereoWindow(this.#framesIn(settleMs + AHEAD_MS))
    this.#sink = sink
    this.#nowMs = nowMs
    this.#startedMs = startMs
    this.#callerClock = new CallerClock(format.sampleRateHz)
  }

  caller(bytes: Uint8Array, timestamp: number, nowMs = this.#nowMs()): void {
    if (this.#over) return
    const samples = this.#ofCaller(bytes)
    const { at, moved, movedFrom } = this.#callerClock.hear(timestamp, samples.length, this.#position(nowMs))
    if (moved > 0) this.#window.advance(CALLER, movedFrom, moved)
    this.flush()
    this.#window.put(CALLER, at, samples)
  }

  agent(bytes: Uint8Array, nowMs = this.#nowMs()): void {
    if (this.#over) return
    const samples = this.#ofAgent(bytes)
    const now = this.#position(nowMs)
    if (this.#agentAt < now - this.#framesIn(MAX_LATE_MS)) this.#agentAt = now
    this.flush()
    this.#window.put(AGENT, this.#agentAt, samples)
    this.#agentAt += samples.length
  }

  cleared(nowMs = this.#nowMs()): void {
    if (this.#over) return
    this.#agentAt = Math.min(this.#agentAt, this.#position(nowMs))
    this.#window.silence(AGENT, this.#agentAt)
  }

  /** Gives away what is final. Called at least once a second, so that silence costs no memory either. */
  flush(): void {
    if (!this.#over) this.#giveUntil(this.#position() - this.#framesIn(this.#settleMs))
  }

  ended(): void {
    if (this.#over) return
    this.#giveUntil(this.#position())
    this.#over = true
    this.#sink.end()
  }

  #giveUntil(position: number): void {
    while (this.#window.start < position) this.#sink.write(bytesOf(this.#window.take(position)))
  }

  #position(nowMs = this.#nowMs()): number {
    return this.#framesIn(nowMs - this.#startedMs)
  }

  #framesIn(ms: number): number {
    return Math.round((ms * this.#rateHz) / 1000)
  }
}

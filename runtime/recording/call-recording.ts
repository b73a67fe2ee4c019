import type { AudioFormat } from '../call/types/leg.ts'
import { codecFor, type Decode } from '../media/codecs/codec.ts'
import { bytesOf } from '../media/frame.ts'
import type { CallerPlace } from '../media/line/caller-clock.ts'
import { AGENT, CALLER, StereoWindow } from './stereo.ts'

/** A recorder's view of a call: the leg's bytes, as they pass, with their places on the call's timeline. No method throws. */
export interface CallTap {
  /** `bytes` is valid during the call only. Places are samples since monotonic time began. */
  caller(bytes: Uint8Array, place: CallerPlace): void
  /** @param atMs where the frame stands, monotonic */
  agent(bytes: Uint8Array, atMs: number): void
  /** The agent's sound from there on is dropped. */
  cleared(atMs: number): void
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
  /** Where it begins, in samples since monotonic time began. */
  readonly #startedAt: number
  readonly #settleMs: number
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
    this.#startedAt = this.#framesIn(startMs)
  }

  caller(bytes: Uint8Array, { at, moved, movedFrom }: CallerPlace): void {
    if (this.#over) return
    const samples = this.#ofCaller(bytes)
    if (moved > 0) this.#window.advance(CALLER, movedFrom - this.#startedAt, moved)
    this.flush()
    this.#window.put(CALLER, at - this.#startedAt, samples)
  }

  agent(bytes: Uint8Array, atMs: number): void {
    if (this.#over) return
    const samples = this.#ofAgent(bytes)
    this.flush()
    this.#window.put(AGENT, this.#position(atMs), samples)
  }

  cleared(atMs: number): void {
    if (!this.#over) this.#window.silence(AGENT, this.#position(atMs))
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
    return this.#framesIn(nowMs) - this.#startedAt
  }

  #framesIn(ms: number): number {
    return Math.round((ms * this.#rateHz) / 1000)
  }
}

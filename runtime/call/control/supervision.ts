import { boundary } from '../../lib/async/boundary.ts'
import type { Clock } from '../../lib/clock.ts'
import { codecFor, type Encode } from '../../media/codecs/codec.ts'
import { samplesOf } from '../../media/frame.ts'
import type { CallerPlace } from '../../media/line/caller-clock.ts'
import { CallRecording, type CallTap } from '../../recording/call-recording.ts'
import type { CallTimeline } from '../timeline.ts'
import type { Leg } from '../types/leg.ts'

/** How often sound is sent and how long it may still change: a supervisor hears the call 200 ms late. */
const FLUSH_MS = 40
const SETTLE_MS = 160
const FRAME_MS = 20
/** Maximum buffered voice of a supervisor; more means that the client sends faster than real time. */
const MAX_SPOKEN_MS = 200

/** One who listens. Neither method throws. */
export interface SupervisorListener {
  /** Both sides as interleaved 16-bit stereo at the leg's rate: the caller left, the agent or the supervisor who has taken over right. */
  heard(pcm: Uint8Array): void
  /** The call is over. */
  over(reason: string): void
}

/** The supervisors of a call, and the one whose voice replaces the agent's. Costs nothing without listeners. */
export class Supervision {
  readonly #leg: Leg
  readonly #timeline: CallTimeline
  readonly #clock: Clock
  /** Where the call is recorded. */
  readonly #tap: () => CallTap | undefined
  readonly #encode: Encode
  readonly #listeners = new Set<SupervisorListener>()
  #mix: CallRecording | undefined
  #timer: NodeJS.Timeout | undefined
  #speaker: SupervisorListener | undefined
  /** Of the speaker's voice, what is no whole frame yet. */
  #rest = new Int16Array(0)
  #spokenMs = 0
  #spokenSinceMs = 0

  constructor(leg: Leg, timeline: CallTimeline, clock: Clock, tap: () => CallTap | undefined) {
    this.#leg = leg
    this.#timeline = timeline
    this.#clock = clock
    this.#tap = tap
    this.#encode = codecFor(leg.format).encode
  }

  get sampleRateHz(): number {
    return this.#leg.format.sampleRateHz
  }

  /** Whose voice the caller hears; undefined: the agent's. */
  get speaker(): SupervisorListener | undefined {
    return this.#speaker
  }

  caller(bytes: Uint8Array, place: CallerPlace): void {
    this.#mix?.caller(bytes, place)
  }

  agent(bytes: Uint8Array, atMs: number): void {
    this.#mix?.agent(bytes, atMs)
  }

  cleared(atMs: number): void {
    this.#mix?.cleared(atMs)
  }

  add(listener: SupervisorListener): void {
    this.#listeners.add(listener)
    if (this.#mix !== undefined) return
    const sink = {
      write: (pcm: Uint8Array) => {
        for (const one of this.#listeners) one.heard(pcm)
      },
      end: () => undefined,
    }
    this.#mix = new CallRecording(this.#leg.format, sink, () => this.#clock.monotonicMs(), {
      settleMs: SETTLE_MS,
    })
    this.#timer = setInterval(
      boundary('call', () => this.#mix?.flush()),
      FLUSH_MS,
    )
  }

  remove(listener: SupervisorListener): void {
    this.#listeners.delete(listener)
    if (this.#speaker === listener) this.giveBack()
    if (this.#listeners.size === 0) this.#silence()
  }

  /** From here on the caller hears this one. False: another has the call. */
  takeOver(listener: SupervisorListener): boolean {
    if (this.#speaker !== undefined) return this.#speaker === listener
    this.#speaker = listener
    this.#rest = new Int16Array(0)
    this.#spokenMs = 0
    this.#spokenSinceMs = this.#clock.monotonicMs()
    this.#leg.clear()
    const atMs = this.#timeline.cleared(this.#spokenSinceMs)
    this.#tap()?.cleared(atMs)
    this.cleared(atMs)
    return true
  }

  giveBack(): void {
    this.#speaker = undefined
  }

  /** What the one who has the call says: 16-bit mono at the leg's rate. Faster than time, the rest is lost. */
  speak(listener: SupervisorListener, pcm: Uint8Array): void {
    if (this.#speaker !== listener) return
    const said = samplesOf(pcm)
    const joined = new Int16Array(this.#rest.length + said.length)
    joined.set(this.#rest)
    joined.set(said, this.#rest.length)
    const frame = (this.sampleRateHz * FRAME_MS) / 1_000
    let at = 0
    for (; at + frame <= joined.length; at += frame) this.#send(joined.subarray(at, at + frame))
    this.#rest = joined.slice(at)
  }

  /** The call is over. */
  close(reason: string): void {
    this.#silence()
    for (const listener of this.#listeners) listener.over(reason)
    this.#listeners.clear()
    this.#speaker = undefined
  }

  #send(frame: Int16Array): void {
    const nowMs = this.#clock.monotonicMs()
    const elapsedMs = nowMs - this.#spokenSinceMs
    // Silence of the speaker is no credit for what comes after.
    this.#spokenMs = Math.max(this.#spokenMs, elapsedMs - MAX_SPOKEN_MS)
    if (this.#spokenMs > elapsedMs + MAX_SPOKEN_MS) return
    this.#spokenMs += FRAME_MS
    const bytes = this.#encode(frame)
    if (this.#leg.relayAudio === undefined) this.#leg.sendAudio(bytes)
    else this.#leg.relayAudio(bytes)
    const atMs = this.#timeline.said(bytes, nowMs)
    this.#tap()?.agent(bytes, atMs)
    this.agent(bytes, atMs)
  }

  #silence(): void {
    clearInterval(this.#timer)
    this.#mix?.ended()
    this.#mix = undefined
  }
}

import { FRAME_MS, joinSamples } from '../../media/frame.ts'

/** Silence is not sent once the words are known; while they are pending, only after this delay. */
const QUIET_MS = 300
const AWAITED_QUIET_MS = 1_500
const SILENT_FRAMES_AT_ONCE = 5
/** In the middle of speech: words so far come this much later at most, the last ones no later at all. */
const SPOKEN_FRAMES_AT_ONCE = 3

/** What decides how soon a frame has to be with the recogniser. */
interface Urgency {
  /** How much of the end of the sound is quiet, in milliseconds. */
  quietMs: number
  /** The recogniser owes words, or the caller speaks. */
  awaited: boolean
  /** The agent speaks or is about to: each word may cut it off. */
  contested: boolean
}

/**
 * Gathers the caller's frames for a recogniser into fewer packets, where that makes no turn end later: in the middle of speech,
 * up to the first quiet frame, and in silence of which nothing is awaited, up to the first sound. Pure.
 */
export class SpeechPackets {
  #frames: Int16Array[] = []
  #spoken = false

  /** What is to be sent now; undefined: nothing yet. */
  push(frame: Int16Array, { quietMs, awaited, contested }: Urgency): Int16Array | undefined {
    this.#frames.push(frame)
    const speaks = quietMs < FRAME_MS
    const atOnce =
      quietMs >= (awaited ? AWAITED_QUIET_MS : QUIET_MS)
        ? SILENT_FRAMES_AT_ONCE
        : speaks && this.#spoken && !contested
          ? SPOKEN_FRAMES_AT_ONCE
          : 1
    this.#spoken = speaks
    if (this.#frames.length < atOnce) return undefined
    const packet = this.#frames.length === 1 ? frame : joinSamples(this.#frames)
    this.#frames = []
    return packet
  }
}

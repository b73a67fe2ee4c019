import type { Tone } from './tone.ts'

/** Beeps of answering machines: networks signal below this, and a recorder's own tones lie above. */
const LOWEST_HZ = 960
const HIGHEST_HZ = 3_050
/** 200 to 600 ms, as the tracker measures them. */
const MIN_MS = 160
const MAX_MS = 620
/** Quiet time before and after a beep: special information tones and melodies have several tones. */
const ALONE_MS = 1_000
/** Half a second of 1,100 Hz is a calling fax (T.30). */
const CNG = { hz: 1_100, withinHz: 38, fromMs: 420, toMs: 580 }
/** Steady stretches shorter than this happen in speech. */
const MIN_NEIGHBOUR_MS = 60

/**
 * Tells the beep after which an answering machine records from the tones that networks and faxes make (ITU-T E.180, E.182,
 * T.30): one tone of 1 to 3 kHz, alone, then silence. Whether a greeting came before is for the caller to know. Pure.
 */
export class BeepDetector {
  #lastToneEndMs = Number.NEGATIVE_INFINITY

  /** True when this tone was a beep: now is the time to speak. Give it every tone of the line, in order. */
  push(tone: Tone): boolean {
    const alone = tone.startMs - this.#lastToneEndMs >= ALONE_MS
    if (tone.lengthMs >= MIN_NEIGHBOUR_MS) this.#lastToneEndMs = tone.startMs + tone.lengthMs
    return (
      alone &&
      tone.quiet &&
      tone.hz >= LOWEST_HZ &&
      tone.hz <= HIGHEST_HZ &&
      tone.lengthMs >= MIN_MS &&
      tone.lengthMs <= MAX_MS &&
      !isCalling(tone)
    )
  }
}

function isCalling({ hz, lengthMs }: Tone): boolean {
  return Math.abs(hz - CNG.hz) <= CNG.withinHz && lengthMs >= CNG.fromMs && lengthMs <= CNG.toMs
}

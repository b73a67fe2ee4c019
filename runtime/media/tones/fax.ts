import type { Tone } from './tone.ts'

/** What a fax answers with: 2,100 Hz for 2.6 to 4 s, which V.34 machines break every 450 ms (ITU-T T.30, V.8). */
const CED = { hz: 2_100, withinHz: 20, lengthMs: 1_000, burstMs: 380 }
const BURST_GAP_MS = 100
/** What a calling one sends: half a second of 1,100 Hz every 3.5 s. */
const CNG = { hz: 1_100, withinHz: 38, fromMs: 420, toMs: 580, everyMs: 3_500, withinMs: 600 }

/** Hears that a fax machine is on the line. Pure. */
export class FaxDetector {
  #answerMs = 0
  #answerEndMs = Number.NEGATIVE_INFINITY
  #callingAtMs: number | undefined

  /** True when these tones can only be a fax's. Give it every tone of the line, in order. */
  push({ hz, startMs, lengthMs }: Tone): boolean {
    if (Math.abs(hz - CED.hz) <= CED.withinHz && lengthMs >= CED.burstMs) {
      this.#answerMs = startMs - this.#answerEndMs <= BURST_GAP_MS ? this.#answerMs + lengthMs : lengthMs
      this.#answerEndMs = startMs + lengthMs
      return this.#answerMs >= CED.lengthMs
    }
    if (Math.abs(hz - CNG.hz) > CNG.withinHz || lengthMs < CNG.fromMs || lengthMs > CNG.toMs) return false
    const sinceMs = startMs - (this.#callingAtMs ?? Number.NEGATIVE_INFINITY)
    this.#callingAtMs = startMs
    return Math.abs(sinceMs - CNG.everyMs) <= CNG.withinMs
  }

  /** The same for a tone that sounds still. */
  hears(tone: { hz: number; lengthMs: number } | undefined): boolean {
    return tone !== undefined && Math.abs(tone.hz - CED.hz) <= CED.withinHz && tone.lengthMs >= CED.lengthMs
  }
}

import { FRAME_MS, samplesPerFrame } from '../frame.ts'

/** The two tones of each key (ITU-T Q.23). */
export const ROWS_HZ = [697, 770, 852, 941] as const
export const COLUMNS_HZ = [1_209, 1_336, 1_477, 1_633] as const
export const KEYPAD = ['123A', '456B', '789C', '*0#D'] as const
/** How long a key sounds and how long it is quiet before the next: what every exchange understands (Q.24). */
const TONE_FRAMES = 5
const GAP_FRAMES = 4
/** Amplitude of each tone: about -9 dB of full scale, the high one a little stronger. */
const ROW_LEVEL = 8_000
const COLUMN_LEVEL = 9_000
const MAX_QUEUED = 64

/** Presses keys in the sound itself, frame by frame, where the other side takes no telephone events. */
export class DtmfTones {
  readonly #sampleRateHz: number
  #queue: string[] = []
  #frame = 0

  constructor(sampleRateHz: number) {
    this.#sampleRateHz = sampleRateHz
  }

  get isBusy(): boolean {
    return this.#queue.length > 0
  }

  /** Keys beyond 64 that wait are dropped. */
  send(keys: string): void {
    this.#queue = [...this.#queue, ...keys].slice(0, MAX_QUEUED)
  }

  /** The next 20 ms: a tone, or the silence between two keys. */
  next(): Int16Array {
    const length = samplesPerFrame(this.#sampleRateHz)
    const key = this.#queue[0]
    const frame = this.#frame++
    if (this.#frame >= TONE_FRAMES + GAP_FRAMES) {
      this.#queue.shift()
      this.#frame = 0
    }
    const row = KEYPAD.findIndex((keys) => key !== undefined && keys.includes(key))
    if (key === undefined || row < 0 || frame >= TONE_FRAMES) return new Int16Array(length)
    const low = ROWS_HZ[row]!
    const high = COLUMNS_HZ[KEYPAD[row]!.indexOf(key)]!
    return Int16Array.from({ length }, (_, n) => {
      const seconds = (frame * FRAME_MS) / 1000 + n / this.#sampleRateHz
      return ROW_LEVEL * Math.sin(2 * Math.PI * low * seconds) + COLUMN_LEVEL * Math.sin(2 * Math.PI * high * seconds)
    })
  }
}

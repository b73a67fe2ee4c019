import { COLUMNS_HZ, KEYPAD, ROWS_HZ } from './dtmf-tones.ts'

const RATE_HZ = 8_000
/** The block in which Goertzel's bins lie best on the tones of Q.23. */
const BLOCK = 205
/** RMS of a block, in 16-bit samples: about -36 dB of full scale. */
const MIN_LEVEL = 500
/** Share of a block's energy that the two tones hold; speech has more elsewhere. */
const MIN_SHARE = 0.8
/** How much stronger one tone may be than the other (Q.24 allows 8 dB and 4 dB), and than the rest of its group. */
const MAX_TWIST = 6.3
const MIN_LEAD = 6
/** A key sounds for two blocks, 51 ms, and is over after two others. */
const BLOCKS_ON = 2
const BLOCKS_OFF = 2

/** Hears keys that are pressed in the sound itself (ITU-T Q.23, Q.24). Pure. */
export class DtmfDetector {
  readonly #step: number
  readonly #block = new Float64Array(BLOCK)
  #filled = 0
  #sum = 0
  #summed = 0
  #candidate: string | undefined
  #count = 0
  #pressed: string | undefined
  #missing = 0

  /** @param sampleRateHz a multiple of 8,000 */
  constructor(sampleRateHz: number) {
    this.#step = Math.round(sampleRateHz / RATE_HZ)
  }

  /** The keys that were pressed within these samples, each once however long it is held. */
  push(samples: Int16Array): string[] {
    const keys: string[] = []
    for (let i = 0; i < samples.length; i++) {
      this.#sum += samples[i]!
      if (++this.#summed < this.#step) continue
      this.#block[this.#filled++] = this.#sum / this.#step
      this.#sum = 0
      this.#summed = 0
      if (this.#filled < BLOCK) continue
      this.#filled = 0
      const key = this.#judge(keyOf(this.#block))
      if (key !== undefined) keys.push(key)
    }
    return keys
  }

  #judge(key: string | undefined): string | undefined {
    this.#count = key !== undefined && key === this.#candidate ? this.#count + 1 : 1
    this.#candidate = key
    if (key !== this.#pressed && ++this.#missing >= BLOCKS_OFF) this.#pressed = undefined
    if (key === this.#pressed) this.#missing = 0
    if (key === undefined || this.#count < BLOCKS_ON || key === this.#pressed) return undefined
    this.#pressed = key
    this.#missing = 0
    return key
  }
}

function keyOf(block: Float64Array): string | undefined {
  let energy = 0
  for (const sample of block) energy += sample * sample
  if (energy < BLOCK * MIN_LEVEL ** 2) return undefined
  const rows = ROWS_HZ.map((hz) => power(block, hz))
  const columns = COLUMNS_HZ.map((hz) => power(block, hz))
  const row = strongest(rows)
  const column = strongest(columns)
  if (row === undefined || column === undefined) return undefined
  const [low, high] = [rows[row]!, columns[column]!]
  if (low > high * MAX_TWIST || high > low * MAX_TWIST) return undefined
  // A sine of amplitude a has a bin of (a·N/2)² and an energy of a²·N/2.
  if ((low + high) * (2 / BLOCK) < MIN_SHARE * energy) return undefined
  return KEYPAD[row]![column]
}

function strongest(powers: readonly number[]): number | undefined {
  const most = Math.max(...powers)
  const at = powers.indexOf(most)
  return powers.every((one, i) => i === at || one * MIN_LEAD < most) ? at : undefined
}

/** Goertzel's algorithm. */
function power(block: Float64Array, hz: number): number {
  const c = 2 * Math.cos((2 * Math.PI * hz) / RATE_HZ)
  let before = 0
  let last = 0
  for (const sample of block) {
    const next = sample + c * last - before
    before = last
    last = next
  }
  return last * last + before * before - c * last * before
}

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
    const [block, step] = [this.#block, this.#step]
    let [filled, sum, summed] = [this.#filled, this.#sum, this.#summed]
    for (let i = 0; i < samples.length; i++) {
      sum += samples[i]!
      if (++summed < step) continue
      block[filled++] = sum / step
      sum = 0
      summed = 0
      if (filled < BLOCK) continue
      filled = 0
      const key = this.#judge(keyOf(block))
      if (key !== undefined) keys.push(key)
    }
    this.#filled = filled
    this.#sum = sum
    this.#summed = summed
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

/** What a bin of Goertzel's algorithm multiplies by. */
const coefficientOf = (hz: number): number => 2 * Math.cos((2 * Math.PI * hz) / RATE_HZ)
const ROWS = ROWS_HZ.map(coefficientOf)
const COLUMNS = COLUMNS_HZ.map(coefficientOf)
/** Of the group that was looked at last. */
const powers = new Float64Array(4)

/** Most sounds fail on the row frequencies: the columns are then skipped. */
function keyOf(block: Float64Array): string | undefined {
  let energy = 0
  for (let i = 0; i < BLOCK; i++) energy += block[i]! * block[i]!
  if (energy < BLOCK * MIN_LEVEL ** 2) return undefined
  // A sine of amplitude a has a bin of (a·N/2)² and an energy of a²·N/2.
  const least = (MIN_SHARE * energy * BLOCK) / 2
  const row = strongest(block, ROWS)
  if (row === undefined) return undefined
  const low = powers[row]!
  if (low * (1 + MAX_TWIST) < least) return undefined
  const column = strongest(block, COLUMNS)
  if (column === undefined) return undefined
  const high = powers[column]!
  if (low > high * MAX_TWIST || high > low * MAX_TWIST || low + high < least) return undefined
  return KEYPAD[row]![column]
}

/** The tone of a group that leads the others; undefined when none does. */
function strongest(block: Float64Array, coefficients: readonly number[]): number | undefined {
  measure(block, coefficients)
  let at = 0
  for (let i = 1; i < 4; i++) if (powers[i]! > powers[at]!) at = i
  for (let i = 0; i < 4; i++) if (i !== at && powers[i]! * MIN_LEAD >= powers[at]!) return undefined
  return at
}

/** Goertzel's algorithm for the four tones of a group at once: each step waits for its last one, so four cost little more than one. */
function measure(block: Float64Array, [c0 = 0, c1 = 0, c2 = 0, c3 = 0]: readonly number[]): void {
  let [a0, a1, a2, a3, b0, b1, b2, b3] = [0, 0, 0, 0, 0, 0, 0, 0]
  for (let i = 0; i < BLOCK; i++) {
    const sample = block[i]!
    const n0 = sample - a0 + c0 * b0
    const n1 = sample - a1 + c1 * b1
    const n2 = sample - a2 + c2 * b2
    const n3 = sample - a3 + c3 * b3
    a0 = b0
    a1 = b1
    a2 = b2
    a3 = b3
    b0 = n0
    b1 = n1
    b2 = n2
    b3 = n3
  }
  powers[0] = b0 * b0 + a0 * a0 - c0 * b0 * a0
  powers[1] = b1 * b1 + a1 * a1 - c1 * b1 * a1
  powers[2] = b2 * b2 + a2 * a2 - c2 * b2 * a2
  powers[3] = b3 * b3 + a3 * a3 - c3 * b3 * a3
}

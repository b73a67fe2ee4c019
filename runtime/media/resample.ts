/** How good a filter is. */
interface Quality {
  /** Of the windowed sinc on each side. */
  readonly zeroCrossings: number
  /** Of its Kaiser window. */
  readonly beta: number
}
/** For an ear: 80 dB of stop band. */
const FINE: Quality = { zeroCrossings: 16, beta: 8 }
/** For a model that listens to a telephone, with the same pass band: 54 dB of stop band, more than its codec leaves of the sound. */
export const TELEPHONE: Quality = { zeroCrossings: 10, beta: 5 }
/** Share of the lower Nyquist frequency that passes. */
const ROLL_OFF = 0.92

interface Filter {
  up: number
  down: number
  taps: number
  /** `up` phases of `taps` coefficients, in the order the input samples lie. Doubles: what V8 computes with. */
  phases: Float64Array
}

const filters = new Map<string, Filter>()

function gcd(a: number, b: number): number {
  return b === 0 ? a : gcd(b, a % b)
}

/** Modified Bessel function of the first kind, order 0. */
function besselI0(x: number): number {
  let term = 1
  let sum = 1
  for (let k = 1; term > 1e-10 * sum; k++) {
    term *= (x / (2 * k)) ** 2
    sum += term
  }
  return sum
}

function filterFor(fromHz: number, toHz: number, { zeroCrossings, beta }: Quality): Filter {
  const key = `${fromHz}:${toHz}:${zeroCrossings}:${beta}`
  const known = filters.get(key)
  if (known !== undefined) return known
  const divisor = gcd(fromHz, toHz)
  const up = toHz / divisor
  const down = fromHz / divisor
  const cutoff = ROLL_OFF * Math.min(1, toHz / fromHz)
  // Even, so that the taps come in fours.
  const halfWidth = 2 * Math.ceil(zeroCrossings / cutoff / 2)
  const taps = 2 * halfWidth
  const phases = new Float64Array(up * taps)
  for (let phase = 0; phase < up; phase++) {
    let sum = 0
    for (let tap = 0; tap < taps; tap++) {
      // Distance from the output instant to this input sample, in input samples.
      const x = tap - (halfWidth - 1) - phase / up
      const edge = x / halfWidth
      const sinc = x === 0 ? cutoff : Math.sin(Math.PI * cutoff * x) / (Math.PI * x)
      const window = Math.abs(edge) >= 1 ? 0 : besselI0(beta * Math.sqrt(1 - edge * edge)) / besselI0(beta)
      phases[phase * taps + tap] = sinc * window
      sum += sinc * window
    }
    for (let tap = 0; tap < taps; tap++) phases[phase * taps + tap]! /= sum
  }
  const filter = { up, down, taps, phases }
  filters.set(key, filter)
  return filter
}

/** Reused by every conversion, for none waits in the middle of one. */
let scratch = new Float64Array(4_096)

function scratchOf(length: number): Float64Array {
  if (scratch.length < length) scratch = new Float64Array(length)
  return scratch
}

/**
 * Fills `out` from `position` on, counted in 1/up of a sample of `input`; returns the position after it. Four sums at a
 * time keep the processor busy, and a call a sample would cost as much as its sums.
 */
function convolve({ up, down, taps, phases }: Filter, input: Float64Array, position: number, out: Int16Array): number {
  let start = Math.floor(position / up)
  let phase = position - start * up
  for (let i = 0; i < out.length; i++) {
    let first = 0
    let second = 0
    let third = 0
    let fourth = 0
    const from = phase * taps
    for (let tap = 0; tap < taps; tap += 4) {
      first += phases[from + tap]! * input[start + tap]!
      second += phases[from + tap + 1]! * input[start + tap + 1]!
      third += phases[from + tap + 2]! * input[start + tap + 2]!
      fourth += phases[from + tap + 3]! * input[start + tap + 3]!
    }
    const sum = first + second + third + fourth
    out[i] = sum > 32767 ? 32767 : sum < -32768 ? -32768 : Math.round(sum)
    for (phase += down; phase >= up; phase -= up) start++
  }
  return start * up + phase
}

/**
 * A streaming sample-rate converter: polyphase, windowed sinc, any ratio of integers. The coefficients of a ratio
 * are made once a process. Delays by 16 to 36 input samples (1–2 ms). Pure: no clock, no I/O, nothing to close.
 */
export class Resampler {
  readonly #filter: Filter | undefined
  /** The last samples of the input, which later output still needs: `#heldLength` of them. */
  readonly #held: Float64Array
  #heldLength: number
  /** Samples of silence before the first one. */
  readonly #silence: number
  /** Phase of the next output sample, counted in 1/up of an input sample from the first sample of `#held`. */
  #phase = 0

  constructor(fromHz: number, toHz: number, quality = FINE) {
    this.#filter = fromHz === toHz ? undefined : filterFor(fromHz, toHz, quality)
    const { taps, up, down } = this.#filter ?? { taps: 1, up: 1, down: 1 }
    // The next output may lie up to a step beyond what is there.
    this.#held = new Float64Array(taps + 1 + Math.ceil(down / up))
    this.#silence = taps - 1
    this.#heldLength = this.#silence
  }

  /** All output that the input so far decides. */
  push(samples: Int16Array): Int16Array {
    const filter = this.#filter
    if (filter === undefined) return samples
    const { up, down, taps } = filter
    const length = this.#heldLength + samples.length
    const input = scratchOf(length)
    input.set(this.#held.subarray(0, this.#heldLength))
    input.set(samples, this.#heldLength)
    const last = (length - taps) * up
    const count = last < this.#phase ? 0 : Math.floor((last - this.#phase) / down) + 1
    const out = new Int16Array(count)
    const position = convolve(filter, input, this.#phase, out)
    const keepFrom = Math.min(Math.floor(position / up), length)
    this.#held.set(input.subarray(keepFrom, length))
    this.#heldLength = length - keepFrom
    this.#phase = position - keepFrom * up
    return out
  }

  /** The tail that waits for input which will not come; afterwards the resampler is as new. */
  flush(): Int16Array {
    if (this.#filter === undefined) return new Int16Array(0)
    const tail = this.push(new Int16Array(this.#filter.taps >> 1))
    this.reset()
    return tail
  }

  reset(): void {
    this.#held.fill(0)
    this.#heldLength = this.#silence
    this.#phase = 0
  }
}

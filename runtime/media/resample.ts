/** Zero crossings of the windowed sinc on each side: 80 dB of stop band with the Kaiser window below. */
const ZERO_CROSSINGS = 16
const KAISER_BETA = 8
/** Share of the lower Nyquist frequency that passes. */
const ROLL_OFF = 0.92

interface Filter {
  up: number
  down: number
  taps: number
  /** `up` phases of `taps` coefficients, in the order the input samples lie. */
  phases: Float32Array
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

function filterFor(fromHz: number, toHz: number): Filter {
  const key = `${fromHz}:${toHz}`
  const known = filters.get(key)
  if (known !== undefined) return known
  const divisor = gcd(fromHz, toHz)
  const up = toHz / divisor
  const down = fromHz / divisor
  const cutoff = ROLL_OFF * Math.min(1, toHz / fromHz)
  // Even, so that the taps come in fours.
  const halfWidth = 2 * Math.ceil(ZERO_CROSSINGS / cutoff / 2)
  const taps = 2 * halfWidth
  const phases = new Float32Array(up * taps)
  for (let phase = 0; phase < up; phase++) {
    let sum = 0
    for (let tap = 0; tap < taps; tap++) {
      // Distance from the output instant to this input sample, in input samples.
      const x = tap - (halfWidth - 1) - phase / up
      const edge = x / halfWidth
      const sinc = x === 0 ? cutoff : Math.sin(Math.PI * cutoff * x) / (Math.PI * x)
      const window =
        Math.abs(edge) >= 1 ? 0 : besselI0(KAISER_BETA * Math.sqrt(1 - edge * edge)) / besselI0(KAISER_BETA)
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
let scratch = new Float32Array(4_096)

function scratchOf(length: number): Float32Array {
  if (scratch.length < length) scratch = new Float32Array(length)
  return scratch
}

/** Sum of the products of `length` (a multiple of 4) coefficients and samples; four sums at a time keep the processor busy. */
function dot(a: Float32Array, fromA: number, b: Float32Array, fromB: number, length: number): number {
  let first = 0
  let second = 0
  let third = 0
  let fourth = 0
  for (let i = 0; i < length; i += 4) {
    first += a[fromA + i]! * b[fromB + i]!
    second += a[fromA + i + 1]! * b[fromB + i + 1]!
    third += a[fromA + i + 2]! * b[fromB + i + 2]!
    fourth += a[fromA + i + 3]! * b[fromB + i + 3]!
  }
  return first + second + third + fourth
}

/**
 * A streaming sample-rate converter: polyphase, windowed sinc, any ratio of integers. The coefficients of a ratio
 * are made once a process. Delays by 16 to 36 input samples (1–2 ms). Pure: no clock, no I/O, nothing to close.
 */
export class Resampler {
  readonly #filter: Filter | undefined
  readonly #history: Int16Array
  /** Phase of the next output sample, counted in 1/up of an input sample from the first sample of `#history`. */
  #phase = 0
  #held: Int16Array

  constructor(fromHz: number, toHz: number) {
    this.#filter = fromHz === toHz ? undefined : filterFor(fromHz, toHz)
    this.#history = new Int16Array((this.#filter?.taps ?? 1) - 1)
    this.#held = this.#history
  }

  /** All output that the input so far decides. */
  push(samples: Int16Array): Int16Array {
    const filter = this.#filter
    if (filter === undefined) return samples
    const { up, down, taps, phases } = filter
    const length = this.#held.length + samples.length
    const input = scratchOf(length)
    input.set(this.#held)
    input.set(samples, this.#held.length)
    const last = (length - taps) * up
    const count = last < this.#phase ? 0 : Math.floor((last - this.#phase) / down) + 1
    const out = new Int16Array(count)
    let position = this.#phase
    for (let i = 0; i < count; i++) {
      const start = Math.floor(position / up)
      const sum = dot(phases, (position - start * up) * taps, input, start, taps)
      out[i] = sum > 32767 ? 32767 : sum < -32768 ? -32768 : Math.round(sum)
      position += down
    }
    const keepFrom = Math.min(Math.floor(position / up), length)
    this.#held = Int16Array.from(input.subarray(keepFrom, length))
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
    this.#held = this.#history
    this.#phase = 0
  }
}

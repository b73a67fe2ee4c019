import { joinSamples } from '../frame.ts'
import { FilterMemory, SAMPLE_BYTES } from './filter-memory.ts'

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
  /** Where `up` phases of `taps` coefficients lie, in the order the input samples do. */
  phases: number
}

const memory = new FilterMemory()
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
  // So that the taps come in eights.
  const halfWidth = 4 * Math.ceil(zeroCrossings / cutoff / 4)
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
  const filter = { up, down, taps, phases: memory.keep(Float32Array.from(phases)) }
  filters.set(key, filter)
  return filter
}

/** Of the input at once: what is longer, such as a whole recording, comes in pieces. */
const MOST_AT_ONCE = 16_384

/**
 * A streaming sample-rate converter: polyphase, windowed sinc, any ratio of integers. The coefficients of a ratio
 * are made once a process. Delays by 16 to 40 input samples (1–2 ms). Pure: no clock, no I/O, nothing to close.
 */
export class Resampler {
  readonly #filter: Filter | undefined
  /** The last samples of the input, which later output still needs: `#heldLength` of them. */
  readonly #held: Int16Array
  #heldLength: number
  /** Samples of silence before the first one. */
  readonly #silence: number
  /** Phase of the next output sample, counted in 1/up of an input sample from the first sample of `#held`. */
  #phase = 0

  constructor(fromHz: number, toHz: number, quality = FINE) {
    this.#filter = fromHz === toHz ? undefined : filterFor(fromHz, toHz, quality)
    const { taps, up, down } = this.#filter ?? { taps: 1, up: 1, down: 1 }
    // The next output may lie up to a step beyond what is there.
    this.#held = new Int16Array(taps + 1 + Math.ceil(down / up))
    this.#silence = taps - 1
    this.#heldLength = this.#silence
  }

  /** All output that the input so far decides. */
  push(samples: Int16Array): Int16Array {
    const filter = this.#filter
    if (filter === undefined) return samples
    if (samples.length <= MOST_AT_ONCE) return this.#convolve(filter, samples)
    const pieces: Int16Array[] = []
    for (let at = 0; at < samples.length; at += MOST_AT_ONCE) {
      pieces.push(this.#convolve(filter, samples.subarray(at, at + MOST_AT_ONCE)))
    }
    return joinSamples(pieces)
  }

  #convolve({ up, down, taps, phases }: Filter, samples: Int16Array): Int16Array {
    const length = this.#heldLength + samples.length
    const last = (length - taps) * up
    const count = last < this.#phase ? 0 : Math.floor((last - this.#phase) / down) + 1
    const room = memory.room(length + count)
    const { shorts, convolve } = memory
    const from = room / SAMPLE_BYTES
    shorts.set(this.#held.subarray(0, this.#heldLength), from)
    shorts.set(samples, from + this.#heldLength)
    const start = Math.floor(this.#phase / up)
    const out = from + length
    convolve(phases, taps, up, down, room + start * SAMPLE_BYTES, this.#phase - start * up, out * SAMPLE_BYTES, count)
    const position = this.#phase + count * down
    const keepFrom = Math.min(Math.floor(position / up), length)
    this.#held.set(shorts.subarray(from + keepFrom, from + length))
    this.#heldLength = length - keepFrom
    this.#phase = position - keepFrom * up
    return shorts.slice(out, out + count)
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

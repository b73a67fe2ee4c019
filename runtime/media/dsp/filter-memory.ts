import { CONVOLVE_WASM } from './convolve.ts'
import { webInstance, webModule } from './web-module.ts'

/** Of 16 bits. */
export const SAMPLE_BYTES = Int16Array.BYTES_PER_ELEMENT
const PAGE_BYTES = 65_536
/** A few frames of what is heard and said. */
const FIRST_ROOM = 4_096

type Convolve = (
  ...args: [
    phases: number,
    taps: number,
    up: number,
    down: number,
    input: number,
    phase: number,
    out: number,
    count: number,
  ]
) => void

interface FilterModule {
  memory: { readonly buffer: ArrayBuffer; grow(pages: number): void }
  convolve: Convolve
}

/** What the module of convolve.wat reads and writes: filters, which stay, and room for one conversion, since none waits in the middle of one. */
export class FilterMemory {
  readonly #memory: FilterModule['memory']
  readonly convolve: Convolve
  #end = 0
  #room = 0
  #roomLength = 0
  /** All of it; made anew when it grows. */
  shorts: Int16Array

  constructor() {
    const { memory, convolve } = webInstance(webModule(CONVOLVE_WASM)) as FilterModule
    this.#memory = memory
    this.convolve = convolve
    this.shorts = new Int16Array(this.#memory.buffer)
  }

  keep(values: Float32Array): number {
    const at = this.#reserve(values.byteLength)
    new Float32Array(this.#memory.buffer, at, values.length).set(values)
    return at
  }

  /** Where so many samples have room until the next call. */
  room(length: number): number {
    if (length > this.#roomLength) {
      this.#roomLength = Math.max(FIRST_ROOM, 2 * length)
      this.#room = this.#reserve(this.#roomLength * SAMPLE_BYTES)
    }
    return this.#room
  }

  #reserve(bytes: number): number {
    const at = this.#end
    this.#end = Math.ceil((at + bytes) / 16) * 16
    const missing = this.#end - this.#memory.buffer.byteLength
    if (missing > 0) {
      this.#memory.grow(Math.ceil(missing / PAGE_BYTES))
      this.shorts = new Int16Array(this.#memory.buffer)
    }
    return at
  }
}

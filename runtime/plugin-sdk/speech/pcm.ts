export { bytesOf } from '../../media/frame.ts'

/** Puts 16-bit little-endian samples together from bytes that may be cut anywhere. */
export class SampleReader {
  #odd: number | undefined

  push(bytes: Uint8Array): Int16Array<ArrayBuffer> {
    const lead = this.#odd === undefined ? 0 : 1
    const count = (lead + bytes.length) >> 1
    const joined = new Uint8Array(count * 2)
    if (this.#odd !== undefined && count > 0) joined[0] = this.#odd
    const taken = count * 2 - lead
    if (count > 0) {
      joined.set(bytes.subarray(0, taken), lead)
      this.#odd = undefined
    }
    if (taken >= 0 && taken < bytes.length) this.#odd = bytes[taken]
    return new Int16Array(joined.buffer)
  }
}

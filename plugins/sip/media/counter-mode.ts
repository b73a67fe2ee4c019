import { createCipheriv } from 'node:crypto'

const BLOCK_BYTES = 16
/** A packet's counters wait here; longer ones enlarge it. */
const FIRST_BLOCKS = 16

/**
 * AES-128 in the counter mode of SRTP (RFC 3711, section 4.1.1). One cipher serves the whole stream: it turns counters into the key
 * stream, a packet's at once, where a cipher made for each packet would cost twice as much.
 */
export class CounterMode {
  readonly #cipher: ReturnType<typeof createCipheriv>
  readonly #salt: Buffer
  #counters = Buffer.alloc(FIRST_BLOCKS * BLOCK_BYTES)

  /** @param salt 14 bytes */
  constructor(key: Uint8Array, salt: Uint8Array) {
    this.#cipher = createCipheriv('aes-128-ecb', key, null).setAutoPadding(false)
    this.#salt = Buffer.alloc(BLOCK_BYTES)
    this.#salt.set(salt)
  }

  /** Encrypts or decrypts `bytes` in place, from `from` to `to`. @param index of the packet, 48 bits */
  apply(bytes: Buffer, from: number, to: number, ssrc: number, index: number): void {
    const blocks = Math.ceil((to - from) / BLOCK_BYTES)
    if (blocks === 0) return
    const size = blocks * BLOCK_BYTES
    if (this.#counters.length < size) this.#counters = Buffer.alloc(size)
    const counters = this.#counters
    this.#salt.copy(counters)
    counters.writeUInt32BE((counters.readUInt32BE(4) ^ ssrc) >>> 0, 4)
    counters.writeUInt16BE(counters.readUInt16BE(8) ^ (Math.floor(index / 2 ** 32) & 0xffff), 8)
    counters.writeUInt32BE((counters.readUInt32BE(10) ^ (index % 2 ** 32)) >>> 0, 10)
    for (let i = 1; i < blocks; i++) {
      counters.copyWithin(i * BLOCK_BYTES, 0, BLOCK_BYTES - 2)
      counters[i * BLOCK_BYTES + 14] = i >>> 8
      counters[i * BLOCK_BYTES + 15] = i & 0xff
    }
    counters[14] = 0
    counters[15] = 0
    const stream = this.#cipher.update(counters.subarray(0, size))
    for (let at = from, i = 0; at < to; at++, i++) bytes[at] = bytes[at]! ^ stream[i]!
  }
}

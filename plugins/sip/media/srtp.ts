import { createCipheriv, timingSafeEqual } from 'node:crypto'
import { CounterMode } from './counter-mode.ts'
import { HmacSha1 } from './hmac-sha1.ts'

/**
 * SRTP (RFC 3711) with AES_CM_128_HMAC_SHA1_80 and _32: encrypts and authenticates one direction's RTP and RTCP. Pure, but
 * for Node's ciphers.
 */

export const SRTP_SUITES = ['AES_CM_128_HMAC_SHA1_80', 'AES_CM_128_HMAC_SHA1_32'] as const
export type SrtpSuite = (typeof SRTP_SUITES)[number]
/** Bytes of a master key and its salt, as SDES names them together (RFC 4568). */
export const MASTER_KEY_BYTES = 16
export const MASTER_SALT_BYTES = 14

const RTCP_TAG_BYTES = 10
const RTP_HEADER_BYTES = 12
const RTCP_HEADER_BYTES = 8
/** A packet further behind than this may be one sent again. */
const REPLAY_WINDOW = 64n

interface SessionKeys {
  cipher: CounterMode
  auth: HmacSha1
}

/** One direction of a stream: every synchronisation source has its own counters. */
export class SrtpStream {
  readonly #tagBytes: number
  readonly #rtp: SessionKeys
  readonly #rtcp: SessionKeys
  readonly #rollover = new Map<number, { roc: number; highest: number; seen: bigint }>()
  readonly #tag = Buffer.alloc(RTCP_TAG_BYTES)
  #rtcpIndex = 0
  #rtcpHighest = -1
  readonly #mkiBytes: number

  /**
   * @param master key and salt, 30 bytes
   * @param mkiBytes of the key's identifier, which stands before the tag in packets that come
   */
  constructor(suite: SrtpSuite, master: Uint8Array, mkiBytes = 0) {
    if (master.length !== MASTER_KEY_BYTES + MASTER_SALT_BYTES) {
      throw new RangeError(`A master key and salt are 30 bytes, not ${master.length}`)
    }
    this.#tagBytes = suite.endsWith('32') ? 4 : 10
    this.#mkiBytes = mkiBytes
    const key = Buffer.from(master.subarray(0, MASTER_KEY_BYTES))
    const salt = Buffer.from(master.subarray(MASTER_KEY_BYTES))
    this.#rtp = derive(key, salt, 0)
    this.#rtcp = derive(key, salt, 3)
  }

  /** A packet to be sent, from the plain one. */
  protect(packet: Buffer): Buffer {
    const sequence = packet.readUInt16BE(2)
    const ssrc = packet.readUInt32BE(8)
    const state = this.#stateOf(ssrc, sequence)
    if (sequence < 0x4000 && state.highest > 0xc000) state.roc = (state.roc + 1) >>> 0
    state.highest = sequence
    const start = payloadStart(packet)
    if (start === undefined) throw new RangeError('Not an RTP packet')
    const sealed = Buffer.allocUnsafe(packet.length + this.#tagBytes)
    packet.copy(sealed)
    this.#rtp.cipher.apply(sealed, start, packet.length, ssrc, state.roc * 0x10000 + sequence)
    this.#rtp.auth.digest(sealed.subarray(0, packet.length), state.roc, sealed, packet.length, this.#tagBytes)
    return sealed
  }

  /** The plain packet; undefined: it is forged, damaged or came before. */
  unprotect(packet: Buffer): Buffer | undefined {
    const tagAt = packet.length - this.#tagBytes
    const end = tagAt - this.#mkiBytes
    if (end < RTP_HEADER_BYTES) return undefined
    const start = payloadStart(packet)
    if (start === undefined || start > end) return undefined
    const sequence = packet.readUInt16BE(2)
    const ssrc = packet.readUInt32BE(8)
    const state = this.#stateOf(ssrc, sequence)
    const roc = guessedRollover(state, sequence)
    if (roc < 0) return undefined
    const sealed = packet.subarray(0, end)
    this.#rtp.auth.digest(sealed, roc, this.#tag, 0, this.#tagBytes)
    if (!timingSafeEqual(packet.subarray(tagAt), this.#tag.subarray(0, this.#tagBytes))) return undefined
    if (!this.#isNew(state, roc, sequence)) return undefined
    this.#rollover.set(ssrc, state)
    const plain = Buffer.from(sealed)
    this.#rtp.cipher.apply(plain, start, end, ssrc, roc * 0x10000 + sequence)
    return plain
  }

  protectRtcp(packet: Buffer): Buffer {
    const ssrc = packet.readUInt32BE(4)
    const index = this.#rtcpIndex
    this.#rtcpIndex = (this.#rtcpIndex + 1) & 0x7fffffff
    const end = packet.length + 4
    const sealed = Buffer.allocUnsafe(end + RTCP_TAG_BYTES)
    packet.copy(sealed)
    this.#rtcp.cipher.apply(sealed, RTCP_HEADER_BYTES, packet.length, ssrc, index)
    sealed.writeUInt32BE((0x80000000 | index) >>> 0, packet.length)
    this.#rtcp.auth.digest(sealed.subarray(0, end), undefined, sealed, end, RTCP_TAG_BYTES)
    return sealed
  }

  unprotectRtcp(packet: Buffer): Buffer | undefined {
    const tagAt = packet.length - RTCP_TAG_BYTES
    const end = tagAt - this.#mkiBytes
    if (end < RTCP_HEADER_BYTES + 4) return undefined
    const sealed = packet.subarray(0, end)
    this.#rtcp.auth.digest(sealed, undefined, this.#tag, 0, RTCP_TAG_BYTES)
    if (!timingSafeEqual(packet.subarray(tagAt), this.#tag.subarray(0, RTCP_TAG_BYTES))) return undefined
    const trailer = sealed.readUInt32BE(end - 4)
    const index = trailer & 0x7fffffff
    if (index <= this.#rtcpHighest) return undefined
    this.#rtcpHighest = index
    const plain = Buffer.from(sealed.subarray(0, end - 4))
    if (trailer >>> 31 === 1) {
      this.#rtcp.cipher.apply(plain, RTCP_HEADER_BYTES, plain.length, sealed.readUInt32BE(4), index)
    }
    return plain
  }

  #stateOf(ssrc: number, sequence: number): { roc: number; highest: number; seen: bigint } {
    let state = this.#rollover.get(ssrc)
    if (state === undefined) {
      state = { roc: 0, highest: sequence, seen: 0n }
      if (this.#rollover.size < 16) this.#rollover.set(ssrc, state)
    }
    return state
  }

  /** Notes an authentic packet; false when it was seen before (section 3.3.2). */
  #isNew(state: { roc: number; highest: number; seen: bigint }, roc: number, sequence: number): boolean {
    const ahead = BigInt(roc * 0x10000 + sequence - (state.roc * 0x10000 + state.highest))
    if (ahead > 0n) {
      state.seen = BigInt.asUintN(Number(REPLAY_WINDOW), (state.seen << ahead) | 1n)
      state.roc = roc
      state.highest = sequence
      return true
    }
    if (-ahead >= REPLAY_WINDOW || (state.seen >> -ahead) & 1n) return false
    state.seen |= 1n << -ahead
    return true
  }
}

/** Section 3.3.1 and appendix A: the rollover that brings a sequence number nearest the highest. */
function guessedRollover({ roc, highest }: { roc: number; highest: number }, sequence: number): number {
  if (highest < 0x8000) return sequence - highest > 0x8000 ? roc - 1 : roc
  return highest - 0x8000 > sequence ? roc + 1 : roc
}

function payloadStart(packet: Buffer): number | undefined {
  const first = packet[0] ?? 0
  let start = RTP_HEADER_BYTES + 4 * (first & 0x0f)
  if (first & 0x10) {
    if (packet.length < start + 4) return undefined
    start += 4 + 4 * packet.readUInt16BE(start + 2)
  }
  return first >> 6 === 2 && start <= packet.length ? start : undefined
}

/** Section 4.3, with a key derivation rate of 0. `label`: 0 for RTP, 3 for RTCP. */
function derive(key: Buffer, salt: Buffer, label: number): SessionKeys {
  const make = (which: number, bytes: number): Buffer => {
    const iv = Buffer.alloc(16)
    salt.copy(iv)
    iv[7] = iv[7]! ^ which
    return createCipheriv('aes-128-ctr', key, iv).update(Buffer.alloc(bytes))
  }
  return {
    cipher: new CounterMode(make(label, 16), make(label + 2, MASTER_SALT_BYTES)),
    auth: new HmacSha1(make(label + 1, 20)),
  }
}

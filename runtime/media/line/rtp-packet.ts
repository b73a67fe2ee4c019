/** RTP packets (RFC 3550, section 5.1). */

export interface RtpPacket {
  payloadType: number
  marker: boolean
  /** 16 bits. */
  sequence: number
  /** 32 bits. */
  timestamp: number
  ssrc: number
  payload: Uint8Array
}

const HEADER_BYTES = 12

/** Undefined when the datagram is no RTP packet, RTCP included. */
export function readRtp(bytes: Buffer): RtpPacket | undefined {
  const first = bytes[0]
  const second = bytes[1]
  if (bytes.length < HEADER_BYTES || first === undefined || second === undefined || first >> 6 !== 2) return undefined
  // RTCP's types would be payload types 64 to 95 with a marker (RFC 5761, section 4).
  if (second >= 192 && second <= 223) return undefined
  let start = HEADER_BYTES + 4 * (first & 0x0f)
  if (first & 0x10) {
    if (bytes.length < start + 4) return undefined
    start += 4 + 4 * bytes.readUInt16BE(start + 2)
  }
  const padding = first & 0x20 ? (bytes[bytes.length - 1] ?? 0) : 0
  const end = bytes.length - padding
  if (start > end) return undefined
  return {
    payloadType: second & 0x7f,
    marker: second >= 128,
    sequence: bytes.readUInt16BE(2),
    timestamp: bytes.readUInt32BE(4),
    ssrc: bytes.readUInt32BE(8),
    payload: bytes.subarray(start, end),
  }
}

export function writeRtp(packet: RtpPacket): Buffer {
  const bytes = Buffer.allocUnsafe(HEADER_BYTES + packet.payload.length)
  bytes[0] = 0x80
  bytes[1] = (packet.marker ? 0x80 : 0) | packet.payloadType
  bytes.writeUInt16BE(packet.sequence & 0xffff, 2)
  bytes.writeUInt32BE(packet.timestamp >>> 0, 4)
  bytes.writeUInt32BE(packet.ssrc >>> 0, 8)
  bytes.set(packet.payload, HEADER_BYTES)
  return bytes
}

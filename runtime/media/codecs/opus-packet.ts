/** What is known of Opus packets without decoding them (RFC 6716, section 3; RFC 7587). */

/** Clock rate of RTP timestamps, independent of the decoding rate (RFC 7587). */
export const OPUS_CLOCK_HZ = 48_000
/** 20 ms of silence, one channel. */
export const OPUS_SILENCE: Uint8Array = Uint8Array.of(0xf8, 0xff, 0xfe)
/** The longest packet of one frame. */
export const MAX_OPUS_BYTES = 1_275

const MAX_PACKET_MS = 120
/** Milliseconds of a frame by the configuration of its packet: three kinds of codec. */
const SILK_MS = [10, 20, 40, 60]
const HYBRID_MS = [10, 20]
const CELT_MS = [2.5, 5, 10, 20]

/** How much sound a packet holds by its first bytes, 0 to 120 ms. */
export function opusDurationMs(packet: Uint8Array): number {
  const head = packet[0] ?? 0
  const config = head >> 3
  const frameMs = config < 12 ? SILK_MS[config % 4]! : config < 16 ? HYBRID_MS[config % 2]! : CELT_MS[config % 4]!
  const code = head & 3
  const frames = code === 0 ? 1 : code === 3 ? (packet[1] ?? 0) & 0x3f : 2
  return Math.min(MAX_PACKET_MS, frames * frameMs)
}

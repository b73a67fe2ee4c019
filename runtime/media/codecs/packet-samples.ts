import type { AudioFormat } from '../../call/types/leg.ts'
import { opusDurationMs } from './opus-packet.ts'

/** How many samples at the format's rate a packet holds, which is not decoded for it. */
export function packetSamples({ encoding, sampleRateHz }: AudioFormat, packet: Uint8Array): number {
  if (encoding === 'opus') return (opusDurationMs(packet) * sampleRateHz) / 1000
  return encoding === 'pcm_s16le' ? packet.byteLength >> 1 : packet.byteLength
}

/**
 * The head of a WAV file of 16-bit stereo PCM (RIFF, Microsoft's Multimedia Programming Interface 1.0). While a file is
 * written its sizes are those of an empty one; its length on disk is the truth.
 */

export const WAV_HEAD_BYTES = 44
const CHANNELS = 2
export const BYTES_PER_FRAME = CHANNELS * 2
/** The sizes are 32 bits, and some readers take them as signed. */
export const MAX_WAV_DATA_BYTES = 0x7fffffff - WAV_HEAD_BYTES

export function wavHead(sampleRateHz: number, dataBytes: number): Buffer {
  const head = Buffer.alloc(WAV_HEAD_BYTES)
  head.write('RIFF', 0, 'latin1')
  head.writeUInt32LE(WAV_HEAD_BYTES - 8 + dataBytes, 4)
  head.write('WAVEfmt ', 8, 'latin1')
  head.writeUInt32LE(16, 16)
  head.writeUInt16LE(1, 20)
  head.writeUInt16LE(CHANNELS, 22)
  head.writeUInt32LE(sampleRateHz, 24)
  head.writeUInt32LE(sampleRateHz * BYTES_PER_FRAME, 28)
  head.writeUInt16LE(BYTES_PER_FRAME, 32)
  head.writeUInt16LE(16, 34)
  head.write('data', 36, 'latin1')
  head.writeUInt32LE(dataBytes, 40)
  return head
}

/** The sample rate a head of ours names, or undefined when it is not one of ours. */
export function sampleRateOf(head: Buffer): number | undefined {
  if (head.length < WAV_HEAD_BYTES || head.toString('latin1', 0, 4) !== 'RIFF') return undefined
  const rate = head.readUInt32LE(24)
  return wavHead(rate, head.readUInt32LE(40)).equals(head.subarray(0, WAV_HEAD_BYTES)) ? rate : undefined
}

import { PatchbayError } from '../errors.ts'
import type { AudioFormat } from '../session/leg.ts'
import { bytesOf, samplesOf } from './frame.ts'
import { decodeG711, encodeG711 } from './g711.ts'

export type Decode = (bytes: Uint8Array) => Int16Array
export type Encode = (samples: Int16Array) => Uint8Array

/** What turns a leg's bytes into samples and back. Throws `unavailable` for an encoding this build does not carry. */
export function codecFor(format: AudioFormat): { decode: Decode; encode: Encode } {
  const { encoding } = format
  switch (encoding) {
    case 'pcm_s16le':
      return { decode: samplesOf, encode: bytesOf }
    case 'pcmu':
    case 'pcma':
      return {
        decode: (bytes) => decodeG711(encoding, bytes),
        encode: (samples) => encodeG711(encoding, samples),
      }
    default:
      throw new PatchbayError('unavailable', { cause: `No codec for ${encoding}` })
  }
}

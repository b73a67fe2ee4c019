import type { AudioFormat } from '../../call/types/leg.ts'
import { bytesOf, samplesOf } from '../frame.ts'
import { decodeG711, encodeG711 } from './g711.ts'
import { OpusDecoder, OpusEncoder } from './opus.ts'

export type Decode = (bytes: Uint8Array) => Int16Array
export type Encode = (samples: Int16Array) => Uint8Array

/**
 * What turns a leg's bytes into samples and back. Opus keeps the state of one stream each way, and takes whole frames of 20 ms;
 * the others keep none.
 */
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
    case 'opus':
      return opus(format.sampleRateHz)
  }
}

/** Each half is made when it is first used: most need one alone. */
function opus(sampleRateHz: number): { decode: Decode; encode: Encode } {
  let decoder: OpusDecoder | undefined
  let encoder: OpusEncoder | undefined
  return {
    decode(packet) {
      decoder ??= new OpusDecoder(sampleRateHz)
      return decoder.decode(packet)
    },
    encode(samples) {
      encoder ??= new OpusEncoder(sampleRateHz)
      return encoder.encode(samples)
    },
  }
}

import type { Encoding } from '../session/leg.ts'
import { decodeG711, encodeG711 } from './g711.ts'
import { G722Decoder, G722Encoder } from './g722.ts'

/** What one direction of a telephone line's codec does. Both keep state: one of each a line. */
export interface LineCodec {
  encode(samples: Int16Array): Uint8Array
  decode(payload: Uint8Array): Int16Array
}

/** A codec as telephone lines name and time it (RFC 3551). */
export interface LineCodecKind {
  /** `G722/8000`, as in a session description. */
  readonly encoding: string
  /** The payload type everyone uses. */
  readonly payloadType: number
  /** What timestamps count: of G.722 8,000 by an old mistake that stays. */
  readonly clockHz: number
  readonly sampleRateHz: number
  /** The session's encoding that needs no recoding; undefined: linear samples. */
  readonly session: Extract<Encoding, 'pcmu' | 'pcma'> | undefined
  make(): LineCodec
}

const g711 = (law: 'pcmu' | 'pcma', payloadType: number): LineCodecKind => ({
  encoding: `${law.toUpperCase()}/8000`,
  payloadType,
  clockHz: 8_000,
  sampleRateHz: 8_000,
  session: law,
  make: () => ({ encode: (samples) => encodeG711(law, samples), decode: (payload) => decodeG711(law, payload) }),
})

/** The codecs of telephone lines by their names, most wanted by ears first. */
export const LINE_CODECS = {
  G722: {
    encoding: 'G722/8000',
    payloadType: 9,
    clockHz: 8_000,
    sampleRateHz: 16_000,
    session: undefined,
    make: () => {
      const encoder = new G722Encoder()
      const decoder = new G722Decoder()
      return { encode: (samples) => encoder.encode(samples), decode: (payload) => decoder.decode(payload) }
    },
  },
  PCMU: g711('pcmu', 0),
  PCMA: g711('pcma', 8),
} as const satisfies Record<string, LineCodecKind>

export type LineCodecName = keyof typeof LINE_CODECS
export const LINE_CODEC_NAMES = Object.keys(LINE_CODECS) as LineCodecName[]

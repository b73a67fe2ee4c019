import type { Encoding } from '../../call/types/leg.ts'
import { decodeG711, encodeG711 } from './g711.ts'
import { G722Decoder, G722Encoder } from './g722.ts'
import { OpusDecoder, OpusEncoder } from './opus.ts'

/** What one direction of a telephone line's codec does. Both keep state: one of each a line. */
export interface LineCodec {
  encode(samples: Int16Array): Uint8Array
  decode(payload: Uint8Array): Int16Array
}

/** A codec as telephone lines name and time it (RFC 3551). */
interface LineCodecKind {
  /** `G722/8000`, as in a session description. */
  readonly encoding: string
  /** The payload type everyone uses; from 96 on another may be agreed on. */
  readonly payloadType: number
  /** What we say of it (`a=fmtp`); undefined: there is nothing to say. */
  readonly parameters: string | undefined
  /** What timestamps count: of G.722 8,000 by an old mistake that stays. */
  readonly clockHz: number
  readonly sampleRateHz: number
  /** How much a packet may hold. Shorter ones cost more than they carry, longer ones are heard late. */
  readonly ptimesMs: readonly number[]
  /** The session's encoding that needs no recoding; undefined: linear samples. */
  readonly session: Extract<Encoding, 'pcmu' | 'pcma'> | undefined
  make(): LineCodec
}

const ANY_PTIME_MS = [10, 20, 30, 40, 60]

const g711 = (law: 'pcmu' | 'pcma', payloadType: number): LineCodecKind => ({
  encoding: `${law.toUpperCase()}/8000`,
  payloadType,
  parameters: undefined,
  clockHz: 8_000,
  sampleRateHz: 8_000,
  ptimesMs: ANY_PTIME_MS,
  session: law,
  make: () => ({ encode: (samples) => encodeG711(law, samples), decode: (payload) => decodeG711(law, payload) }),
})

/** The codecs of telephone lines by their names, most wanted by ears first. */
export const LINE_CODECS = {
  OPUS: {
    // Two channels are said of mono, too (RFC 7587, section 7).
    encoding: 'opus/48000/2',
    payloadType: 111,
    parameters: 'maxplaybackrate=24000;sprop-maxcapturerate=24000;useinbandfec=1',
    clockHz: 48_000,
    sampleRateHz: 24_000,
    ptimesMs: [10, 20, 40, 60],
    session: undefined,
    make: () => {
      const encoder = new OpusEncoder(24_000)
      const decoder = new OpusDecoder(24_000)
      return { encode: (samples) => encoder.encode(samples), decode: (payload) => decoder.decode(payload) }
    },
  },
  G722: {
    encoding: 'G722/8000',
    payloadType: 9,
    parameters: undefined,
    clockHz: 8_000,
    sampleRateHz: 16_000,
    ptimesMs: ANY_PTIME_MS,
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

/** G.711 (ITU-T): μ-law (PCMU) and A-law (PCMA), by table. 65,536 + 256 entries a law, made once. */

interface Law {
  encode: Uint8Array
  decode: Int16Array
}

function muLawToLinear(code: number): number {
  const inverted = ~code & 0xff
  const exponent = (inverted >> 4) & 7
  const magnitude = ((((inverted & 15) << 3) + 132) << exponent) - 132
  return inverted & 0x80 ? -magnitude : magnitude
}

function linearToMuLaw(sample: number): number {
  const sign = sample < 0 ? 0x80 : 0
  const magnitude = Math.min(Math.abs(sample), 32635) + 132
  const exponent = 31 - Math.clz32(magnitude) - 7
  const mantissa = (magnitude >> (exponent + 3)) & 15
  return ~(sign | (exponent << 4) | mantissa) & 0xff
}

function aLawToLinear(code: number): number {
  const toggled = code ^ 0x55
  const exponent = (toggled >> 4) & 7
  const mantissa = (toggled & 15) << 4
  const magnitude = exponent === 0 ? mantissa + 8 : (mantissa + 264) << (exponent - 1)
  return toggled & 0x80 ? magnitude : -magnitude
}

function linearToALaw(sample: number): number {
  const sign = sample < 0 ? 0 : 0x80
  // One's complement keeps the two halves of the code symmetric around zero, as G.711 asks.
  const magnitude = Math.min(sample < 0 ? ~sample : sample, 32767)
  const exponent = magnitude < 256 ? 0 : 31 - Math.clz32(magnitude) - 7
  const mantissa = (magnitude >> (exponent === 0 ? 4 : exponent + 3)) & 15
  return (sign | (exponent << 4) | mantissa) ^ 0x55
}

function makeLaw(encodeOne: (sample: number) => number, decodeOne: (code: number) => number): Law {
  const encode = new Uint8Array(65536)
  for (let i = 0; i < 65536; i++) encode[i] = encodeOne((i << 16) >> 16)
  const decode = new Int16Array(256)
  for (let i = 0; i < 256; i++) decode[i] = decodeOne(i)
  return { encode, decode }
}

const laws = new Map<'pcmu' | 'pcma', Law>()

function lawOf(encoding: 'pcmu' | 'pcma'): Law {
  let law = laws.get(encoding)
  if (law === undefined) {
    law = encoding === 'pcmu' ? makeLaw(linearToMuLaw, muLawToLinear) : makeLaw(linearToALaw, aLawToLinear)
    laws.set(encoding, law)
  }
  return law
}

/** One byte a sample to 16-bit samples. */
export function decodeG711(encoding: 'pcmu' | 'pcma', bytes: Uint8Array): Int16Array {
  const { decode } = lawOf(encoding)
  const out = new Int16Array(bytes.length)
  for (let i = 0; i < bytes.length; i++) out[i] = decode[bytes[i]!]!
  return out
}

/** 16-bit samples to one byte a sample. */
export function encodeG711(encoding: 'pcmu' | 'pcma', samples: Int16Array): Uint8Array {
  const { encode } = lawOf(encoding)
  const out = new Uint8Array(samples.length)
  for (let i = 0; i < samples.length; i++) out[i] = encode[samples[i]! & 0xffff]!
  return out
}

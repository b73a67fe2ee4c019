/**
 * G.722 (ITU-T) at 64 kbit/s: 16 kHz speech in two bands of adaptive differential PCM. Names and tables are those of the
 * recommendation; one byte holds two samples. Pure: a decoder and an encoder keep the state of one direction each.
 */

const Q6 = [
  0, 35, 72, 110, 150, 190, 233, 276, 323, 370, 422, 473, 530, 587, 650, 714, 786, 858, 940, 1023, 1121, 1219, 1339,
  1458, 1612, 1765, 1980, 2195, 2557, 2919,
]
const ILN = [
  0, 63, 62, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4,
  0,
]
const ILP = [
  0, 61, 60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 48, 47, 46, 45, 44, 43, 42, 41, 40, 39, 38, 37, 36, 35, 34, 33,
  32, 0,
]
const WL = [-60, -30, 58, 172, 334, 538, 1198, 3042]
const RL42 = [0, 7, 6, 5, 4, 3, 2, 1, 7, 6, 5, 4, 3, 2, 1, 0]
const ILB = [
  2048, 2093, 2139, 2186, 2233, 2282, 2332, 2383, 2435, 2489, 2543, 2599, 2656, 2714, 2774, 2834, 2896, 2960, 3025,
  3091, 3158, 3228, 3298, 3371, 3444, 3520, 3597, 3676, 3756, 3838, 3922, 4008,
]
const QM4 = [0, -20456, -12896, -8968, -6288, -4240, -2584, -1200, 20456, 12896, 8968, 6288, 4240, 2584, 1200, 0]
const QM2 = [-7408, -1616, 7408, 1616]
const QM6 = [
  -136, -136, -136, -136, -24808, -21904, -19008, -16704, -14984, -13512, -12280, -11192, -10232, -9360, -8576, -7856,
  -7192, -6576, -6000, -5456, -4944, -4464, -4008, -3576, -3168, -2776, -2400, -2032, -1688, -1360, -1040, -728, 24808,
  21904, 19008, 16704, 14984, 13512, 12280, 11192, 10232, 9360, 8576, 7856, 7192, 6576, 6000, 5456, 4944, 4464, 4008,
  3576, 3168, 2776, 2400, 2032, 1688, 1360, 1040, 728, 432, 136, -432, -136,
]
const IHN = [0, 1, 0]
const IHP = [0, 3, 2]
const WH = [0, -214, 798]
const RH2 = [2, 1, 2, 1]
const QMF = [3, -11, 12, 32, -210, 951, 3876, -805, 362, -156, 53, -11]
const QMF_TAPS = 24

const saturate = (value: number): number => (value > 32_767 ? 32_767 : Math.max(value, -32_768))

/** The predictor and quantiser scale of one band (blocks 3 and 4 of the recommendation). */
class Band {
  readonly #maxScale: number
  readonly #shift: number
  readonly #weights: readonly number[]
  det: number
  s = 0
  #sz = 0
  #nb = 0
  readonly #r = new Int32Array(3)
  readonly #p = new Int32Array(3)
  readonly #a = new Int32Array(3)
  readonly #b = new Int32Array(7)
  readonly #d = new Int32Array(7)

  constructor(det: number, maxScale: number, shift: number, weights: readonly number[]) {
    this.det = det
    this.#maxScale = maxScale
    this.#shift = shift
    this.#weights = weights
  }

  /** LOGSC and SCALE, then what the predictor makes of the difference. */
  adapt(weight: number, difference: number): void {
    const nb = ((this.#nb * 127) >> 7) + this.#weights[weight]!
    this.#nb = nb < 0 ? 0 : Math.min(nb, this.#maxScale)
    const exponent = this.#shift - (this.#nb >> 11)
    const mantissa = ILB[(this.#nb >> 6) & 31]!
    this.det = (exponent < 0 ? mantissa << -exponent : mantissa >> exponent) << 2
    this.#predict(difference)
  }

  #predict(difference: number): void {
    const r = this.#r
    const p = this.#p
    const a = this.#a
    const b = this.#b
    const d = this.#d
    d[0] = difference
    r[0] = saturate(this.s + difference)
    p[0] = saturate(this.#sz + difference)
    const sign = p[0]! >> 15
    const double = saturate(a[1]! << 2)
    let a2 = sign === p[1]! >> 15 ? -double : double
    if (a2 > 32_767) a2 = 32_767
    a2 = (a2 >> 7) + (sign === p[2]! >> 15 ? 128 : -128) + ((a[2]! * 32_512) >> 15)
    a2 = a2 > 12_288 ? 12_288 : Math.max(a2, -12_288)
    let a1 = saturate((sign === p[1]! >> 15 ? 192 : -192) + ((a[1]! * 32_640) >> 15))
    const limit = saturate(15_360 - a2)
    a1 = a1 > limit ? limit : Math.max(a1, -limit)
    const step = difference === 0 ? 0 : 128
    const own = difference >> 15
    for (let i = 6; i > 0; i--) {
      b[i] = saturate((d[i]! >> 15 === own ? step : -step) + ((b[i]! * 32_640) >> 15))
    }
    for (let i = 6; i > 0; i--) d[i] = d[i - 1]!
    r[2] = r[1]!
    r[1] = r[0]!
    p[2] = p[1]!
    p[1] = p[0]!
    a[2] = a2
    a[1] = a1
    const sp = saturate(((a1 * saturate(2 * r[1]!)) >> 15) + ((a2 * saturate(2 * r[2]!)) >> 15))
    let sz = 0
    for (let i = 6; i > 0; i--) sz += (b[i]! * saturate(2 * d[i]!)) >> 15
    this.#sz = saturate(sz)
    this.s = saturate(sp + this.#sz)
  }
}

const lowBand = () => new Band(32, 18_432, 8, WL)
const highBand = () => new Band(8, 22_528, 10, WH)

/** Samples of 16 kHz to bytes. */
export class G722Encoder {
  readonly #low = lowBand()
  readonly #high = highBand()
  readonly #x = new Int32Array(QMF_TAPS)

  /** @param samples an even number */
  encode(samples: Int16Array): Uint8Array {
    const out = new Uint8Array(samples.length >> 1)
    const x = this.#x
    for (let i = 0; i < out.length; i++) {
      x.copyWithin(0, 2)
      x[22] = samples[2 * i]!
      x[23] = samples[2 * i + 1]!
      let odd = 0
      let even = 0
      for (let k = 0; k < 12; k++) {
        odd += x[2 * k]! * QMF[k]!
        even += x[2 * k + 1]! * QMF[11 - k]!
      }
      out[i] = (this.#encodeHigh((even - odd) >> 14) << 6) | this.#encodeLow((even + odd) >> 14)
    }
    return out
  }

  #encodeLow(x: number): number {
    const band = this.#low
    const error = saturate(x - band.s)
    const magnitude = error >= 0 ? error : -(error + 1)
    let level = 1
    while (level < 30 && magnitude >= (Q6[level]! * band.det) >> 12) level++
    const code = (error < 0 ? ILN : ILP)[level]!
    band.adapt(RL42[code >> 2]!, (band.det * QM4[code >> 2]!) >> 15)
    return code
  }

  #encodeHigh(x: number): number {
    const band = this.#high
    const error = saturate(x - band.s)
    const magnitude = error >= 0 ? error : -(error + 1)
    const level = magnitude >= (564 * band.det) >> 12 ? 2 : 1
    const code = (error < 0 ? IHN : IHP)[level]!
    band.adapt(RH2[code]!, (band.det * QM2[code]!) >> 15)
    return code
  }
}

/** Bytes to samples of 16 kHz. */
export class G722Decoder {
  readonly #low = lowBand()
  readonly #high = highBand()
  readonly #x = new Int32Array(QMF_TAPS)

  decode(bytes: Uint8Array): Int16Array {
    const out = new Int16Array(2 * bytes.length)
    const x = this.#x
    for (let i = 0; i < bytes.length; i++) {
      const low = this.#decodeLow(bytes[i]! & 63)
      const high = this.#decodeHigh(bytes[i]! >> 6)
      x.copyWithin(0, 2)
      x[22] = low + high
      x[23] = low - high
      let first = 0
      let second = 0
      for (let k = 0; k < 12; k++) {
        first += x[2 * k + 1]! * QMF[11 - k]!
        second += x[2 * k]! * QMF[k]!
      }
      out[2 * i] = saturate(first >> 11)
      out[2 * i + 1] = saturate(second >> 11)
    }
    return out
  }

  #decodeLow(code: number): number {
    const band = this.#low
    const out = limited(band.s + ((band.det * QM6[code]!) >> 15))
    band.adapt(RL42[code >> 2]!, (band.det * QM4[code >> 2]!) >> 15)
    return out
  }

  #decodeHigh(code: number): number {
    const band = this.#high
    const difference = (band.det * QM2[code]!) >> 15
    const out = limited(band.s + difference)
    band.adapt(RH2[code]!, difference)
    return out
  }
}

/** LIMIT: what the filter bank takes. */
const limited = (value: number): number => (value > 16_383 ? 16_383 : Math.max(value, -16_384))

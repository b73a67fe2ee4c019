import type { BandFrames } from './band-frames.ts'
import { BANDS } from './bands.ts'

/** A frame of the agent counts as sound above this, and one of the line. */
export const SENT_DB = -48
export const HEARD_DB = -64
/** The delay stands still for so many frames. */
const STRETCH = 8
/** From one stretch to the next it grows and shrinks by so many frames at most: players draw sound out, and run dry, more than they hurry. */
const MOST_LATER = 4
const MOST_SOONER = 2
/** A delay that moves by a frame has to agree by so much more: dB squared, of all bands. Where nothing sounds it stays. */
const MOVING = 500

export interface EchoMatch {
  /** Correlation of what was heard with what was sent, over bands and time, each band's mean taken away: -1 to 1. */
  readonly likeness: number
  /** How many frames before what was heard it was sent, stretch by stretch. */
  readonly lags: readonly number[]
  /** The delay of what was heard in a slot. */
  lagAt(slot: number): number
}

interface EchoSearch {
  /** Slots of what was heard. */
  readonly from: number
  readonly to: number
  /** Delays that are looked at. */
  readonly minLag: number
  readonly maxLag: number
  /** Fewer frames of the agent, or of both, tell nothing. */
  readonly minSent: number
  readonly minBoth: number
}

/**
 * Searches the received audio for the pattern of the sent audio. Playback may stretch or compress it, as jitter buffers do: the delay
 * moves, and of all ways it may have moved the best one counts. Undefined: too little was sent or heard. Pure.
 */
export function matchEcho(sent: BandFrames, heard: BandFrames, search: EchoSearch): EchoMatch | undefined {
  const { from, to, minLag, maxLag } = search
  const sentMeans = meansOf(sent, from - maxLag, to - minLag, SENT_DB)
  const heardMeans = meansOf(heard, from, to, HEARD_DB)
  if (sentMeans === undefined || heardMeans === undefined) return undefined
  const stretches = Math.ceil((to - from + 1) / STRETCH)
  const count = maxLag - minLag + 1
  /** Of each stretch and delay the best sum up to there, and the delay before. */
  const sums: Float64Array[] = []
  const before: Int16Array[] = []
  for (let stretch = 0; stretch < stretches; stretch++) {
    const sum = new Float64Array(count)
    const came = new Int16Array(count)
    const first = from + stretch * STRETCH
    const last = Math.min(to, first + STRETCH - 1)
    for (let i = 0; i < count; i++) {
      let best = 0
      came[i] = i
      if (stretch > 0) {
        best = Number.NEGATIVE_INFINITY
        const earlier = sums[stretch - 1]!
        for (let j = Math.max(0, i - MOST_LATER); j <= Math.min(count - 1, i + MOST_SOONER); j++) {
          const value = earlier[j]! - MOVING * Math.abs(i - j)
          if (value <= best) continue
          best = value
          came[i] = j
        }
      }
      sum[i] = best + agreement(sent, heard, sentMeans, heardMeans, first, last, minLag + i)
    }
    sums.push(sum)
    before.push(came)
  }
  const total = sums.at(-1)!
  let at = 0
  for (let i = 1; i < count; i++) if (total[i]! > total[at]!) at = i
  const lags = new Array<number>(stretches)
  for (let stretch = stretches - 1; stretch >= 0; stretch--) {
    lags[stretch] = minLag + at
    at = before[stretch]![at]!
  }
  const lagAt = (slot: number): number =>
    lags[Math.min(stretches - 1, Math.max(0, Math.floor((slot - from) / STRETCH)))]!
  const likeness = correlation(sent, heard, search, lagAt)
  return likeness === undefined ? undefined : { likeness, lags, lagAt }
}

/** Of the frames that are louder than that, the mean of each band. */
function meansOf(frames: BandFrames, from: number, to: number, aboveDb: number): Float64Array | undefined {
  const means = new Float64Array(BANDS)
  let count = 0
  for (let at = from; at <= to; at++) {
    if (frames.loudest(at) <= aboveDb) continue
    const levels = frames.at(at)!
    count++
    for (let band = 0; band < BANDS; band++) means[band]! += levels[band]!
  }
  if (count === 0) return undefined
  for (let band = 0; band < BANDS; band++) means[band]! /= count
  return means
}

/** How much less differs with this delay than if nothing had been sent. */
function agreement(
  sent: BandFrames,
  heard: BandFrames,
  sentMeans: Float64Array,
  heardMeans: Float64Array,
  from: number,
  to: number,
  lag: number,
): number {
  let sum = 0
  for (let at = from; at <= to; at++) {
    const y = heard.at(at)
    // Sound of which nothing was sent tells against a delay as well.
    if (y === undefined || (sent.loudest(at - lag) <= SENT_DB && heard.loudest(at) <= HEARD_DB)) continue
    const x = sent.at(at - lag)
    for (let band = 0; band < BANDS; band++) {
      const a = Math.max(SENT_DB, x?.[band] ?? SENT_DB) - sentMeans[band]!
      sum += 2 * a * (y[band]! - heardMeans[band]!) - a * a
    }
  }
  return sum
}

function correlation(
  sent: BandFrames,
  heard: BandFrames,
  { from, to, minSent, minBoth }: EchoSearch,
  lagAt: (slot: number) => number,
): number | undefined {
  const x = new Float64Array(BANDS)
  const y = new Float64Array(BANDS)
  let count = 0
  let both = 0
  let xy = 0
  let xx = 0
  let yy = 0
  for (let at = from; at <= to; at++) {
    const slot = at - lagAt(at)
    const h = heard.at(at)
    // That both begin or end together is no likeness: only sound is compared.
    if (h === undefined || sent.loudest(slot) <= SENT_DB) continue
    const s = sent.at(slot)!
    count++
    if (heard.loudest(at) > HEARD_DB) both++
    for (let band = 0; band < BANDS; band++) {
      x[band]! += s[band]!
      y[band]! += h[band]!
    }
  }
  if (count < minSent || both < minBoth) return undefined
  for (let at = from; at <= to; at++) {
    const slot = at - lagAt(at)
    const h = heard.at(at)
    if (h === undefined || sent.loudest(slot) <= SENT_DB) continue
    const s = sent.at(slot)!
    for (let band = 0; band < BANDS; band++) {
      const a = s[band]! - x[band]! / count
      const b = h[band]! - y[band]! / count
      xy += a * b
      xx += a * a
      yy += b * b
    }
  }
  return xy / Math.sqrt(xx * yy + 1e-9)
}

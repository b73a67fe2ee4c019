/** Loss concealment for narrowband speech, after the idea of G.711 Appendix I: the last pitch period goes on and fades. */

/** Pitch of a voice: 66 to 200 Hz. */
const LONGEST_PERIOD_MS = 15
const SHORTEST_PERIOD_MS = 5
/** How much of what was before is compared to find the period, and has to be kept. */
export const HISTORY_MS = 2 * LONGEST_PERIOD_MS
/** The voice goes on at full strength this long, and is gone at the end of the second. */
const HOLD_MS = 10
const FADE_END_MS = 60

/** Samples in place of those lost, given the samples before them. Pure; silence where there is nothing to go on from. */
export function conceal(before: Int16Array, count: number, sampleRateHz: number): Int16Array {
  const out = new Int16Array(count)
  const perMs = sampleRateHz / 1000
  if (before.length < HISTORY_MS * perMs) return out
  const period = periodOf(before, SHORTEST_PERIOD_MS * perMs, LONGEST_PERIOD_MS * perMs)
  const start = before.length - period
  const voiced = Math.min(count, FADE_END_MS * perMs)
  for (let i = 0; i < voiced; i++) {
    const fade = Math.min(1, (FADE_END_MS * perMs - i) / ((FADE_END_MS - HOLD_MS) * perMs))
    out[i] = Math.round(before[start + (i % period)]! * fade)
  }
  return out
}

/** The shift at which the end of the samples resembles itself most (normalised cross-correlation). */
function periodOf(samples: Int16Array, shortest: number, longest: number): number {
  const window = longest
  const from = samples.length - window
  let best = longest
  let bestScore = Number.NEGATIVE_INFINITY
  for (let lag = shortest; lag <= longest; lag++) {
    let product = 0
    let energy = 1
    for (let i = from; i < samples.length; i++) {
      const earlier = samples[i - lag]!
      product += samples[i]! * earlier
      energy += earlier * earlier
    }
    const score = product / Math.sqrt(energy)
    if (score > bestScore) {
      bestScore = score
      best = lag
    }
  }
  return best
}

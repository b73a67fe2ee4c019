/** The policies that eot-bench sweeps (eot_harness/metrics.py): all of these together. */
const THRESHOLDS = Array.from({ length: 101 }, (_, i) => i / 100)
const ACTION_DELAYS_S = Array.from({ length: 9 }, (_, i) => (i + 2) / 10)
const TIMEOUTS_S = Array.from({ length: 6 }, (_, i) => 1 + i / 2)
const EPS = 1e-9

/** One judged silence: how long it was, and what a decider thought of it as it went on. */
export interface ScoredPause {
  readonly lengthS: number
  readonly isEnd: boolean
  /** Probability that the turn is over, by how long the silence has lasted, the shortest first. */
  readonly scores: readonly (readonly [silenceS: number, probability: number])[]
}

export interface OperatingPoint {
  readonly cutOffs: number
  readonly meanDelayS: number
  readonly threshold: number
  readonly actionDelayS: number
  readonly timeoutS: number
}

/** Share of held pauses cut off, and mean delay at the ends, of each policy: threshold, least delay, and timeout. */
export function sweep(pauses: readonly ScoredPause[]): OperatingPoint[] {
  const points: OperatingPoint[] = []
  for (const threshold of THRESHOLDS) {
    const judged = pauses.map(({ lengthS, isEnd, scores }) => ({
      lengthS,
      isEnd,
      firesS: scores.find(([, probability]) => probability > threshold)?.[0] ?? Number.POSITIVE_INFINITY,
    }))
    for (const actionDelayS of ACTION_DELAYS_S)
      for (const timeoutS of TIMEOUTS_S) points.push(pointOf(judged, { threshold, actionDelayS, timeoutS }))
  }
  return points
}

/** The same of silence alone: the turn ends after so long. */
export function sweepSilence(pauses: readonly ScoredPause[]): OperatingPoint[] {
  const silent = pauses.map(({ lengthS, isEnd }) => ({ lengthS, isEnd, firesS: 0 }))
  return [...new Set([...ACTION_DELAYS_S, ...TIMEOUTS_S])].map((delayS) =>
    pointOf(silent, { threshold: 0, actionDelayS: delayS, timeoutS: delayS }),
  )
}

function pointOf(
  judged: readonly { lengthS: number; isEnd: boolean; firesS: number }[],
  policy: { threshold: number; actionDelayS: number; timeoutS: number },
): OperatingPoint {
  let [held, cut, ends, delayS] = [0, 0, 0, 0]
  for (const { lengthS, isEnd, firesS } of judged) {
    const endsS = Math.min(policy.timeoutS, Math.max(policy.actionDelayS, firesS))
    if (isEnd) {
      ends++
      delayS += endsS
    } else {
      held++
      if (lengthS > endsS + EPS) cut++
    }
  }
  return { ...policy, cutOffs: cut / Math.max(1, held), meanDelayS: delayS / Math.max(1, ends) }
}

/** The fewest cut-offs within a mean delay; undefined: no policy is that quick. */
export function cutOffsAt(points: readonly OperatingPoint[], meanDelayS: number): number | undefined {
  const within = points.filter((point) => point.meanDelayS <= meanDelayS + EPS)
  return within.length === 0 ? undefined : Math.min(...within.map(({ cutOffs }) => cutOffs))
}

/** The least mean delay with so few cut-offs; undefined: no policy cuts off so seldom. */
export function delayAt(points: readonly OperatingPoint[], cutOffs: number): number | undefined {
  const within = points.filter((point) => point.cutOffs <= cutOffs + EPS)
  return within.length === 0 ? undefined : Math.min(...within.map(({ meanDelayS }) => meanDelayS))
}

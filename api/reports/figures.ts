import type { CallSums } from '../../store/calls/reports.ts'

/** The metrics of the specification's section 2.4, in its order. */
export const METRICS = [
  'total_calls',
  'total_duration',
  'avg_duration',
  'total_cost',
  'cost_llm',
  'cost_stt',
  'cost_tts',
  'platform_cost',
  'own_keys_cost',
  'total_tokens',
  'avg_tokens',
] as const
export type Metric = (typeof METRICS)[number]

/**
 * Metrics of a group of calls. Durations are seconds; the average is over answered calls. Costs are USD, `null` where no
 * call of the group has a known price; the total adds what is known. Averages of nothing are `null`.
 */
type Figures = Record<Metric, number | null> &
  Record<'total_calls' | 'total_duration' | 'total_tokens' | 'own_keys_cost', number>

/** Cents of a cent are kept, the noise of binary fractions is not. */
const round = (value: number): number => Math.round(value * 1e9) / 1e9
const roundCost = (usd: number | null): number | null => (usd === null ? null : round(usd))

/** From sums to the answer's metrics. */
export function figuresOf(sums: CallSums): Figures {
  const costs = [sums.costLlm, sums.costStt, sums.costTts, sums.platformCost]
  const known = costs.filter((cost) => cost !== null)
  return {
    total_calls: sums.calls,
    total_duration: sums.durationMs / 1000,
    avg_duration: averageSeconds(sums),
    total_cost: known.length === 0 ? null : round(known.reduce((total, cost) => total + cost, 0)),
    cost_llm: roundCost(sums.costLlm),
    cost_stt: roundCost(sums.costStt),
    cost_tts: roundCost(sums.costTts),
    platform_cost: roundCost(sums.platformCost),
    own_keys_cost: round(sums.ownKeysCost),
    total_tokens: sums.tokens,
    avg_tokens: sums.calls === 0 ? null : round(sums.tokens / sums.calls),
  }
}

/** Mean length of the answered calls in seconds. */
export function averageSeconds(sums: { answered: number; durationMs: number }): number | null {
  return sums.answered === 0 ? null : round(sums.durationMs / sums.answered / 1000)
}

/** Shares of a whole in percent with two decimals, which add up to exactly 100 (largest remainders). */
export function percentages(counts: readonly number[]): number[] {
  const total = counts.reduce((sum, count) => sum + count, 0)
  if (total === 0) return counts.map(() => 0)
  const exact = counts.map((count) => (count / total) * 10_000)
  const shares = exact.map(Math.floor)
  const byRemainder = exact.map((share, index) => ({ index, rest: share % 1 })).sort((a, b) => b.rest - a.rest)
  const missing = 10_000 - shares.reduce((sum, share) => sum + share, 0)
  for (const { index } of byRemainder.slice(0, missing)) shares[index]! += 1
  return shares.map((share) => share / 100)
}

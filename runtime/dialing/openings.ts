import { type CallingPolicy, nextOpening } from './eligibility.ts'
import type { CallingRules } from './rules.ts'
import type { Whereabouts } from './zones.ts'

/** Caches when places open next: at night a campaign repeatedly asks for a hundred closed ones. */

interface Reckoned {
  fromMs: number
  /** Undefined: not within a month. */
  opensMs: number | undefined
}

const MOST_KEPT = 10_000
/** That nothing opens within a month is looked at again. */
const NEVER_MS = 3_600_000

const reckoned = new WeakMap<CallingRules, Map<string, Reckoned>>()

/**
 * As `nextOpening`, which costs a tenth of a millisecond and more. What was reckoned from an instant holds from every later one
 * until the place opens.
 */
export function openingsOf(
  policy: CallingPolicy,
  rules: CallingRules,
): (where: Whereabouts, fromMs: number) => number | undefined {
  const { earliest, latest, days, holidays, ignoredRegions, filterHolidays } = policy
  const hours = JSON.stringify([earliest, latest, days, holidays, ignoredRegions, filterHolidays])
  let kept = reckoned.get(rules)
  if (kept === undefined) {
    kept = new Map()
    reckoned.set(rules, kept)
  }
  const all = kept
  return (where, fromMs) => {
    const key = `${where.zones.join(' ')}|${where.regions.join(' ')}|${hours}`
    const before = all.get(key)
    if (before !== undefined && fromMs >= before.fromMs) {
      const { opensMs } = before
      if (opensMs === undefined ? fromMs < before.fromMs + NEVER_MS : fromMs <= opensMs) return opensMs
    }
    const opensMs = nextOpening(where, policy, rules, fromMs)
    if (all.size >= MOST_KEPT) all.clear()
    all.set(key, { fromMs, opensMs })
    return opensMs
  }
}

/** 95 % of a normal distribution lies within so many standard deviations. */
const Z = 1.959964

/**
 * Between which shares the true one lies, with 95 % confidence: the interval of Wilson (1927), which stays within 0 and 1 and is good for
 * few runs, too. Nothing is known of no run.
 */
export function wilson(passed: number, runs: number): { low: number; high: number } {
  if (runs === 0) return { low: 0, high: 1 }
  const share = passed / runs
  const square = Z * Z
  const middle = share + square / (2 * runs)
  const spread = Z * Math.sqrt((share * (1 - share)) / runs + square / (4 * runs * runs))
  const whole = 1 + square / runs
  return { low: Math.max(0, (middle - spread) / whole), high: Math.min(1, (middle + spread) / whole) }
}

/** `37 of 40, 80–97 %`. */
export function shareText(passed: number, runs: number): string {
  const { low, high } = wilson(passed, runs)
  return `${passed} of ${runs}, ${Math.round(low * 100)}–${Math.round(high * 100)} %`
}

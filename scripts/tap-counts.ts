/** Counts the assertions of a whole TAP run from its closing comment (`# { total: 9, pass: 8, fail: 1 }`). */
export function countResults(tap: string): { passed: number; failed: number } {
  const summaries = tap.match(/^# \{ total: .*\}$/gm) ?? []
  const summary = summaries.at(-1) ?? ''
  const count = (name: string): number => Number(summary.match(new RegExp(`\\b${name}: (\\d+)`))?.[1] ?? 0)
  return { passed: count('pass'), failed: count('fail') }
}

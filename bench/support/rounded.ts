/** To three places. */
export function rounded(value: number): number {
  return Math.round(value * 1_000) / 1_000
}

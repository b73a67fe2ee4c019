/** How long to wait after the nth failure in a row: twice as long each time, up to `mostMs`, less up to a half at random. */
export function backoffMs(
  failures: number,
  { firstMs, mostMs, random }: { firstMs: number; mostMs: number; random: () => number },
): number {
  const fullMs = Math.min(mostMs, firstMs * 2 ** Math.min(failures - 1, 30))
  return fullMs * (1 - random() / 2)
}

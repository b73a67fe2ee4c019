/** Buckets of a report's series: aligned to UTC, weeks from Monday. Pure. */

export const INTERVALS = ['hour', 'day', 'week', 'month'] as const
export type Interval = (typeof INTERVALS)[number]

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** More buckets than this are refused: no chart shows them and the answer would grow without bound. */
export const MAX_BUCKETS = 10_000

/** The interval that gives a chart some ten to ninety points. */
export function autoInterval(startMs: number, endMs: number): Interval {
  const spanMs = endMs - startMs
  if (spanMs <= 2 * DAY_MS) return 'hour'
  if (spanMs <= 92 * DAY_MS) return 'day'
  if (spanMs <= 366 * DAY_MS) return 'week'
  return 'month'
}

/** Start of the bucket that holds `atMs`, as Postgres' `date_trunc(interval, at, 'UTC')`. */
function bucketStart(atMs: number, interval: Interval): number {
  const at = new Date(atMs)
  switch (interval) {
    case 'hour':
      return Math.floor(atMs / HOUR_MS) * HOUR_MS
    case 'day':
      return Math.floor(atMs / DAY_MS) * DAY_MS
    case 'week':
      return (Math.floor(atMs / DAY_MS) - ((at.getUTCDay() + 6) % 7)) * DAY_MS
    case 'month':
      return Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), 1)
  }
}

function nextBucket(startMs: number, interval: Interval): number {
  const start = new Date(startMs)
  switch (interval) {
    case 'hour':
      return startMs + HOUR_MS
    case 'day':
      return startMs + DAY_MS
    case 'week':
      return startMs + 7 * DAY_MS
    case 'month':
      return Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1, 1)
  }
}

/** How many buckets a span makes, without making them. An upper bound, one too many at most. */
export function bucketCount(startMs: number, endMs: number, interval: Interval): number {
  const shortestMs = { hour: HOUR_MS, day: DAY_MS, week: 7 * DAY_MS, month: 28 * DAY_MS }[interval]
  return Math.ceil((endMs - bucketStart(startMs, interval)) / shortestMs)
}

/** Starts of all buckets that overlap [startMs, endMs), the first one possibly earlier than `startMs`. */
export function bucketStarts(startMs: number, endMs: number, interval: Interval): number[] {
  const starts: number[] = []
  for (let at = bucketStart(startMs, interval); at < endMs; at = nextBucket(at, interval)) starts.push(at)
  return starts
}

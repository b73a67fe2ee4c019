const MOST_MS = 3_600_000

/**
 * How long a receiver asked to be left alone (RFC 9110, 10.2.3: seconds or a date), an hour at most; undefined: it did not, or not in
 * a way that can be read.
 */
export function retryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  const text = header?.trim() ?? ''
  const waitMs = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - nowMs
  // A date without its weekday is none of HTTP, and a negative number is read as a year.
  if (Number.isNaN(waitMs) || (!/^\d+$/.test(text) && !/^[A-Z][a-z]+,/.test(text))) return undefined
  return Math.min(MOST_MS, Math.max(0, waitMs))
}

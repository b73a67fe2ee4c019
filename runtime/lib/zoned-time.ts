/** Wall-clock times of IANA time zones, by the zone rules of the runtime (ICU). */

const HOUR_MS = 3_600_000

/** True for an IANA zone (`Europe/Berlin`, `UTC`); an offset like `+02:00` is none, for it has no daylight saving. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false
  try {
    formatterOf(name)
    return true
  } catch {
    return false
  }
}

/**
 * The instant at which clocks in `zone` show a wall-clock time, given as if it were UTC. In an hour that occurs twice, the
 * first of the two; one that is skipped moves on by as much as the clocks do (02:30 becomes 03:30), as RFC 5545 reads them.
 */
export function instantOf(wallMs: number, zone: string): number {
  const before = offsetAt(wallMs - 24 * HOUR_MS, zone)
  const after = offsetAt(wallMs + 24 * HOUR_MS, zone)
  const fitting = [before, after].map((offset) => wallMs - offset).filter((ms) => ms + offsetAt(ms, zone) === wallMs)
  return fitting.length > 0 ? Math.min(...fitting) : wallMs - before
}

/** What clocks and calendars in a zone show. */
export interface WallClock {
  /** `YYYY-MM-DD`. */
  date: string
  /** ISO: 1 is Monday, 7 Sunday. */
  weekday: number
  secondOfDay: number
}

export function wallClock(ms: number, zone: string): WallClock {
  const wall = new Date(Math.floor(ms / 1000) * 1000 + offsetAt(ms, zone))
  return {
    date: wall.toISOString().slice(0, 10),
    weekday: wall.getUTCDay() || 7,
    secondOfDay: wall.getUTCHours() * 3_600 + wall.getUTCMinutes() * 60 + wall.getUTCSeconds(),
  }
}

const formatters = new Map<string, Intl.DateTimeFormat>()

function formatterOf(zone: string): Intl.DateTimeFormat {
  let formatter = formatters.get(zone)
  if (formatter === undefined) {
    formatter = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      calendar: 'iso8601',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
    formatters.set(zone, formatter)
  }
  return formatter
}

/** How far clocks in the zone are ahead of UTC at the instant. */
function offsetAt(ms: number, zone: string): number {
  const parts: Record<string, number> = {}
  for (const { type, value } of formatterOf(zone).formatToParts(ms)) parts[type] = Number(value)
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(ms / 1000) * 1000
}

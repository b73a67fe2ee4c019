/** Calendar, week and ordinal dates (ISO 8601-1, 5.2), with hyphens and without. */
const DATE =
  /^(?:(\d{4})-(\d\d)-(\d\d)|(\d{4})(\d\d)(\d\d)|(\d{4})-?W(\d\d)(?:-?([1-7]))?|(\d{4})-(\d{3})|(\d{4})(\d{3}))$/i
/** A time of day (5.3): hours alone, with minutes, with seconds; the last of them may have a fraction. */
const TIME = /^(\d\d)(?::?(\d\d)(?::?(\d\d))?)?(?:[.,](\d{1,9}))?$/
/** An unescaped plus of a query string arrives as a space. */
const OFFSET = /^(?:Z|([+\- ])(\d\d)(?::?(\d\d))?)$/i
const PARTS = /^([^T ]+?)(?:[T ]([\d:.,]+)(Z|[+\- ][\d:]+)?)?$/i

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** Reads an ISO 8601 date or date-time; without offset it is UTC. Undefined when it is neither. */
export function parseInstant(text: string): Date | undefined {
  const [, date = '', time, zone = 'Z'] = PARTS.exec(text) ?? []
  const dayMs = dayOf(date)
  const sinceMs = time === undefined ? 0 : timeOf(time)
  const offsetMs = offsetOf(zone)
  if (dayMs === undefined || sinceMs === undefined || offsetMs === undefined) return undefined
  return new Date(dayMs + sinceMs - offsetMs)
}

/** The start of the day, in ms since 1970. */
function dayOf(text: string): number | undefined {
  const match = DATE.exec(text)
  if (match === null) return undefined
  const [year, month, day, week, weekday, ordinal] = [
    match[1] ?? match[4] ?? match[7] ?? match[10] ?? match[12],
    match[2] ?? match[5],
    match[3] ?? match[6],
    match[8],
    match[9] ?? '1',
    match[11] ?? match[13],
  ].map((part) => (part === undefined ? Number.NaN : Number(part))) as [number, number, number, number, number, number]
  if (!Number.isNaN(month)) {
    const at = new Date(startOf(year, month))
    at.setUTCDate(day)
    return month >= 1 && month <= 12 && at.getUTCDate() === day && day > 0 ? at.getTime() : undefined
  }
  if (!Number.isNaN(ordinal)) {
    const at = startOf(year, 1) + (ordinal - 1) * DAY_MS
    return ordinal >= 1 && new Date(at).getUTCFullYear() === year ? at : undefined
  }
  // Week 1 is the one that holds 4 January.
  const fourth = startOf(year, 1) + 3 * DAY_MS
  const firstMonday = fourth - ((new Date(fourth).getUTCDay() + 6) % 7) * DAY_MS
  const at = firstMonday + ((week - 1) * 7 + weekday - 1) * DAY_MS
  const thursday = new Date(firstMonday + ((week - 1) * 7 + 3) * DAY_MS)
  return week >= 1 && thursday.getUTCFullYear() === year ? at : undefined
}

/** The first of a month; also of years before 100, which `Date.UTC` takes for others. */
function startOf(year: number, month: number): number {
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, 1)
  return date.getTime()
}

/** Milliseconds since the start of the day; 24:00 is its end. A leap second counts as the one before it. */
function timeOf(text: string): number | undefined {
  const match = TIME.exec(text)
  if (match === null) return undefined
  const [, hours = '', minutes, seconds, fraction = '0'] = match
  const [hour, minute, second] = [Number(hours), Number(minutes ?? 0), Number(seconds ?? 0)]
  const unitMs = seconds !== undefined ? 1_000 : minutes !== undefined ? MINUTE_MS : HOUR_MS
  // What lies below a millisecond is cut; what the binary fraction lacks is no such part.
  const partMs = Math.floor(Number(`0.${fraction}`) * unitMs + 1e-6)
  if (hour === 24) return minute === 0 && second === 0 && partMs === 0 ? DAY_MS : undefined
  if (hour > 24 || minute > 59 || second > 60) return undefined
  return hour * HOUR_MS + minute * MINUTE_MS + Math.min(second, 59) * 1_000 + partMs
}

function offsetOf(text: string): number | undefined {
  const match = OFFSET.exec(text)
  if (match === null) return undefined
  const [, sign, hours = '0', minutes = '0'] = match
  if (Number(hours) > 23 || Number(minutes) > 59) return undefined
  return (sign === '-' ? -1 : 1) * (Number(hours) * HOUR_MS + Number(minutes) * MINUTE_MS)
}

import type { CallingRules, HolidayRule } from './rules.ts'

const DAY_MS = 86_400_000

/** The name of the holiday a region keeps on the date (`YYYY-MM-DD`): its own, its country's or a proclaimed one. */
export function holidayOn(date: string, region: string, rules: CallingRules): string | undefined {
  const country = region.slice(0, 2)
  const proclaimed = rules.proclaimed.find(
    (day) => day.date === date && (day.region === region || day.region === country),
  )
  if (proclaimed !== undefined) return proclaimed.name
  const all = region === country ? [country] : [country, region]
  for (const place of all) {
    for (const holiday of rules.holidays.get(place) ?? []) if (fallsOn(holiday, date)) return holiday.name
  }
  return undefined
}

function fallsOn(holiday: HolidayRule, date: string): boolean {
  const year = Number(date.slice(0, 4))
  // The observed day of New Year may lie in the year before.
  return [year, year + 1].some((of) => datesOf(holiday, of).includes(date))
}

function datesOf(holiday: HolidayRule, year: number): string[] {
  if (holiday.easter_days !== undefined) return [dateOf(easterMs(year) + holiday.easter_days * DAY_MS)]
  if (holiday.date !== undefined) {
    const ms = Date.parse(`${year}-${holiday.date}T00:00:00Z`)
    const weekday = new Date(ms).getUTCDay()
    const shift = !holiday.observed ? 0 : weekday === 6 ? -1 : weekday === 0 ? 1 : 0
    return shift === 0 ? [dateOf(ms)] : [dateOf(ms), dateOf(ms + shift * DAY_MS)]
  }
  const { month = 1, weekday = 1, nth = 1, plus_days = 0 } = holiday
  const first = Date.UTC(year, month - 1, 1)
  const lastDay = new Date(Date.UTC(year, month, 0)).getUTCDate()
  const offset = (weekday - (new Date(first).getUTCDay() || 7) + 7) % 7
  const day = nth === -1 ? 1 + offset + 7 * Math.floor((lastDay - 1 - offset) / 7) : 1 + offset + 7 * (nth - 1)
  return [dateOf(first + (day - 1 + plus_days) * DAY_MS)]
}

const dateOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10)

/** Easter Sunday by the anonymous Gregorian algorithm (Meeus, Jones, Butcher). */
function easterMs(year: number): number {
  const a = year % 19
  const b = Math.floor(year / 100)
  const c = year % 100
  const g = Math.floor((8 * b + 13) / 25)
  const h = (19 * a + b - Math.floor(b / 4) - g + 15) % 30
  const l = (32 + 2 * (b % 4) + 2 * Math.floor(c / 4) - h - (c % 4)) % 7
  const m = Math.floor((a + 11 * h + 22 * l) / 451)
  const sum = h + l - 7 * m + 114
  return Date.UTC(year, Math.floor(sum / 31) - 1, (sum % 31) + 1)
}

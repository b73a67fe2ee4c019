import { t } from '../language/t.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

/** How far back a list goes: days, as filters name them. */
export const SPANS = [
  ['1', t('Last 24 hours')],
  ['7', t('Last 7 days')],
  ['30', t('Last 30 days')],
  ['90', t('Last 90 days')],
] as const

/** The time from so many days ago until now, by the minute: an instant of its own for each drawing would be another list each time. */
export function lastDays(days: string): { startMs: number; endMs: number } {
  const endMs = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS
  return { startMs: endMs - Number(days) * DAY_MS, endMs }
}

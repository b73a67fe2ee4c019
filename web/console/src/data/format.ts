import { locale } from '../language/language.ts'
import { t, wordOf } from '../language/t.ts'

/** Numbers, times and durations as people read them, in the page's language and the browser's zone. */

const dateTime = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' })
const timeOnly = new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit', second: '2-digit' })
const dayTime = new Intl.DateTimeFormat(locale, {
  day: 'numeric',
  month: 'short',
  hour: 'numeric',
  minute: '2-digit',
})
const exact = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium' })
const weekday = new Intl.DateTimeFormat(locale, { weekday: 'short' })
const weekHour = new Intl.DateTimeFormat(locale, { weekday: 'short', hour: '2-digit' })
const whole = new Intl.NumberFormat(locale)
const share = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 })
const change = new Intl.NumberFormat(locale, {
  style: 'percent',
  maximumFractionDigits: 0,
  signDisplay: 'exceptZero',
})
const decimals = [0, 1, 2].map(
  (digits) =>
    new Intl.NumberFormat(locale, {
      minimumFractionDigits: digits,
      maximumFractionDigits: digits,
      useGrouping: false,
    }),
)
const list = new Intl.ListFormat(locale)

const NONE = '–'

const fixed = (amount: number, digits: 0 | 1 | 2): string => decimals[digits]!.format(amount)

export const formatInstant = (iso: string | null | undefined): string => (iso ? dateTime.format(new Date(iso)) : NONE)
/** With its seconds. */
export const formatExactly = (iso: string): string => exact.format(new Date(iso))
export const formatTime = (iso: string): string => timeOnly.format(new Date(iso))
export const formatDayTime = (iso: string | null | undefined): string => (iso ? dayTime.format(new Date(iso)) : NONE)
export const formatWeekday = (iso: string): string => weekday.format(new Date(iso))
/** An hour of a week: `Sat 02 PM`. */
export const formatWeekHour = (iso: string): string => weekHour.format(new Date(iso))
export const formatCount = (count: number | null | undefined): string => (count == null ? NONE : whole.format(count))
export const formatShare = (part: number | null | undefined): string => (part == null ? NONE : share.format(part))

/** A change as a share of what was before, with its sign: `+12%`. */
export const formatChange = (part: number): string => change.format(part)

/** `4.2 s`, `1:05`, `1:02:03`. */
export function formatDuration(seconds: number | null | undefined): string {
  if (seconds == null) return NONE
  if (seconds < 60) return `${fixed(seconds, seconds < 10 ? 1 : 0)} s`
  const all = Math.round(seconds)
  const [h, m, s] = [Math.floor(all / 3600), Math.floor(all / 60) % 60, all % 60]
  const tail = `${String(s).padStart(2, '0')}`
  return h > 0 ? `${h}:${String(m).padStart(2, '0')}:${tail}` : `${m}:${tail}`
}

/** `0:07.4`, as the place in a recording. */
export function formatOffset(ms: number): string {
  const sign = ms < 0 ? '−' : ''
  const all = Math.abs(ms) / 1000
  return `${sign}${Math.floor(all / 60)}:${fixed(Math.floor((all % 60) * 10) / 10, 1).padStart(4, '0')}`
}

export function formatMs(ms: number | null | undefined): string {
  if (ms == null) return NONE
  return ms < 1000 ? `${Math.round(ms)} ms` : `${fixed(ms / 1000, 2)} s`
}

/** Calls cost parts of a cent: `$0.0123`, `$12.30`. */
export function formatUsd(usd: number | null | undefined): string {
  if (usd == null) return NONE
  const isWholeCents = Math.abs(usd) >= 1 || Number.isInteger(usd * 100)
  const digits = isWholeCents ? 2 : 4
  return new Intl.NumberFormat(locale, {
    style: 'currency',
    currency: 'USD',
    currencyDisplay: 'narrowSymbol',
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  }).format(usd)
}

export function formatBytes(bytes: number | null | undefined): string {
  if (bytes == null) return NONE
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  const step = bytes === 0 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10))
  const amount = bytes / 1024 ** step
  return `${fixed(amount, amount >= 100 || step === 0 ? 0 : 1)} ${units[step]}`
}

/** `3 min ago`; older than a day: the date. */
export function formatAgo(iso: string | null | undefined, nowMs = Date.now()): string {
  if (!iso) return NONE
  const seconds = Math.round((nowMs - Date.parse(iso)) / 1000)
  if (seconds < 5) return t('now')
  if (seconds < 60) return t('{n} s ago', { n: seconds })
  if (seconds < 3600) return t('{n} min ago', { n: Math.floor(seconds / 60) })
  if (seconds < 86_400) return t('{n} h ago', { n: Math.floor(seconds / 3600) })
  return formatDayTime(iso)
}

/** `no_answer` → `No answer`. */
export function formatWord(word: string | null | undefined): string {
  if (!word) return NONE
  const text = wordOf(word) ?? word.replaceAll(/[_-]/g, ' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** As `formatWord`, in the middle of a sentence. */
export function formatInner(word: string | null | undefined): string {
  if (!word) return NONE
  return wordOf(word) ?? word.replaceAll(/[_-]/g, ' ').toLowerCase()
}

/** `a, b and c`; of more than `most`, the first and how many follow. */
export function formatList(names: readonly string[], most = names.length): string {
  const rest = names.length - most
  return list.format(rest > 0 ? [...names.slice(0, most), t('{n} more', { n: rest })] : names)
}

/** Numbers, times and durations as people read them, in the browser's own language and zone. */

const dateTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })
const timeOnly = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit' })
const dayTime = new Intl.DateTimeFormat(undefined, {
  day: '2-digit',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
})
const whole = new Intl.NumberFormat(undefined)
const share = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 })

export const NONE = '–'

export const formatInstant = (iso: string | null | undefined): string => (iso ? dateTime.format(new Date(iso)) : NONE)
export const formatTime = (iso: string): string => timeOnly.format(new Date(iso))
export const formatDayTime = (iso: string | null | undefined): string => (iso ? dayTime.format(new Date(iso)) : NONE)
export const formatCount = (count: number | null | undefined): string => (count == null ? NONE : whole.format(count))
export const formatShare = (part: number | null | undefined): string => (part == null ? NONE : share.format(part))

/** `4.2 s`, `1:05`, `1:02:03`. */
export function formatDuration(seconds: number | null | undefined): string {
  if (seconds == null) return NONE
  if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`
  const all = Math.round(seconds)
  const [h, m, s] = [Math.floor(all / 3600), Math.floor(all / 60) % 60, all % 60]
  const tail = `${String(s).padStart(2, '0')}`
  return h > 0 ? `${h}:${String(m).padStart(2, '0')}:${tail}` : `${m}:${tail}`
}

/** `0:07.4`, as the place in a recording. */
export function formatOffset(ms: number): string {
  const sign = ms < 0 ? '−' : ''
  const all = Math.abs(ms) / 1000
  return `${sign}${Math.floor(all / 60)}:${(all % 60).toFixed(1).padStart(4, '0')}`
}

export function formatMs(ms: number | null | undefined): string {
  if (ms == null) return NONE
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(2)} s`
}

export function formatUsd(usd: number | null | undefined): string {
  if (usd == null) return NONE
  return `$${usd === 0 || Math.abs(usd) >= 1 ? usd.toFixed(2) : usd.toFixed(4)}`
}

export function formatBytes(bytes: number | null | undefined): string {
  if (bytes == null) return NONE
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  const step = bytes === 0 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10))
  const amount = bytes / 1024 ** step
  return `${amount >= 100 || step === 0 ? Math.round(amount) : amount.toFixed(1)} ${units[step]}`
}

/** `3 min ago`; older than a day: the date. */
export function formatAgo(iso: string | null | undefined, nowMs = Date.now()): string {
  if (!iso) return NONE
  const seconds = Math.round((nowMs - Date.parse(iso)) / 1000)
  if (seconds < 5) return 'now'
  if (seconds < 60) return `${seconds} s ago`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ago`
  return formatDayTime(iso)
}

/** `no_answer` → `No answer`. */
export function formatWord(word: string | null | undefined): string {
  if (!word) return NONE
  const text = word.replaceAll(/[_-]/g, ' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

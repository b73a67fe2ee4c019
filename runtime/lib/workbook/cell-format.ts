/** How a workbook shows the numbers of a cell (ECMA-376, part 1, 18.8.30): what people see of them is what they mean. */
export type CellFormat = { kind: 'date' } | { kind: 'digits'; sign: string; digits: number } | undefined

/** The formats that every program knows by their number alone and that show dates or times. */
const DATE_FORMATS: readonly (readonly [number, number])[] = [
  [14, 22],
  [27, 36],
  [45, 47],
  [50, 58],
]
/** What a format shows as it is: texts in quotes, escaped characters, colours and languages. */
const LITERALS = /"[^"]*"|\\.|_.|\*.|\[(?!h+\]|m+\]|s+\])[^\]]*\]/gi
/** `00000` and `+0`, with which postal codes and phone numbers keep their zeros and their plus. */
const DIGITS = /^(\+|\\\+|"\+")?(0+|#)$/

const DAY_MS = 86_400_000
/** The day before the first, as if 1900 had had a 29 February; the other calendar begins in 1904. */
const EPOCHS = { 1900: Date.UTC(1899, 11, 30), 1904: Date.UTC(1904, 0, 1) } as const
/** The last day of the year 9999. */
const LAST_DAY = 2_958_465
/** Programs show so many digits of a number and no more. */
const SHOWN_DIGITS = 15

/** @param code absent: the format is known by its number alone */
export function cellFormat(id: number, code: string | undefined): CellFormat {
  if (code === undefined)
    return DATE_FORMATS.some(([from, to]) => id >= from && id <= to) ? { kind: 'date' } : undefined
  const digits = DIGITS.exec(code)
  if (digits !== null) return { kind: 'digits', sign: digits[1] === undefined ? '' : '+', digits: digits[2]!.length }
  return /[dmyhs]/i.test(code.split(';')[0]!.replace(LITERALS, '')) ? { kind: 'date' } : undefined
}

/** A number of a cell as text: a date by ISO 8601, without its time at midnight; of a time of day the time alone. */
export function numberText(text: string, format: CellFormat, calendar: keyof typeof EPOCHS): string {
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value)) return text
  if (format?.kind === 'date' && value >= 0 && value < LAST_DAY + 1) return dateText(value, calendar)
  const shown = String(Number(value.toPrecision(SHOWN_DIGITS)))
  if (format?.kind !== 'digits' || !/^\d+$/.test(shown)) return shown
  return `${format.sign}${shown.padStart(format.digits, '0')}`
}

function dateText(days: number, calendar: keyof typeof EPOCHS): string {
  const sinceMs = Math.round((days * DAY_MS) / 1000) * 1000
  const at = new Date(EPOCHS[calendar] + sinceMs).toISOString()
  const [day, time = ''] = at.slice(0, 19).split('T')
  if (sinceMs < DAY_MS) return time
  return time === '00:00:00' ? day! : `${day}T${time}`
}

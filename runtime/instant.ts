const INSTANT =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ]([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d|60)(?:[.,](\d{1,9}))?)?(Z|[+\- ]\d\d:?\d\d)?)?$/i

/** Reads an ISO 8601 date or date-time; without offset it is UTC. Undefined when it is neither. */
export function parseInstant(text: string): Date | undefined {
  const match = INSTANT.exec(text)
  if (!match) return undefined
  const [, year, month, day, hour = '00', minute = '00', second = '00', fraction = '0', zone = 'Z'] = match
  const calendarDay = new Date(`${year}-${month}-${day}T00:00:00.000Z`)
  if (Number.isNaN(calendarDay.getTime()) || calendarDay.getUTCDate() !== Number(day)) return undefined
  // An unescaped plus of a query string arrives as a space.
  const offset = zone.toUpperCase() === 'Z' ? 'Z' : zone.replace(' ', '+').replace(/^(.\d\d):?(\d\d)$/, '$1:$2')
  const ms = fraction.padEnd(3, '0').slice(0, 3)
  const instant = new Date(
    `${year}-${month}-${day}T${hour}:${minute}:${second === '60' ? '59' : second}.${ms}${offset}`,
  )
  return Number.isNaN(instant.getTime()) ? undefined : instant
}

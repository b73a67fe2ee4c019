/** A span of time whose rows lie in one partition: a month or a day, UTC. */
interface Period {
  readonly from: Date
  readonly to: Date
}

/**
 * What lies in a partition, by its name: `call_events_2031_05` holds a month, `workspace_events_2031_05_07` a day. Undefined for a
 * name that is not of this form.
 */
export function periodOf(parent: string, partition: string): Period | undefined {
  if (!partition.startsWith(`${parent}_`)) return undefined
  const [, year, month, day] = /^(\d{4})_(\d{2})(?:_(\d{2}))?$/.exec(partition.slice(parent.length + 1)) ?? []
  if (year === undefined || month === undefined) return undefined
  const at = (months: number, days: number): Date =>
    new Date(Date.UTC(Number(year), Number(month) - 1 + months, Number(day ?? '01') + days))
  const from = at(0, 0)
  // 2031_13 and 2031_02_30 are no dates, and years below 100 count from 1900.
  if (from.toISOString().slice(0, 10) !== `${year}-${month}-${day ?? '01'}`) return undefined
  return { from, to: day === undefined ? at(1, 0) : at(0, 1) }
}

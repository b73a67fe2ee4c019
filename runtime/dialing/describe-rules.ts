import { PatchbayError } from '../lib/errors.ts'
import { parseInstant } from '../lib/instant.ts'
import { callsPer24h, judgePlace, Moment, nextOpening } from './eligibility.ts'
import { readProspectNumber } from './prospect-number.ts'
import { type CallingRule, loadCallingRules } from './rules.ts'
import { shippedPlaces } from './zones.ts'

const DAYS = ['', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']
/** The law alone. */
const ANY_TIME = {
  earliest: '00:00:00',
  latest: '24:00:00',
  days: [1, 2, 3, 4, 5, 6, 7],
  holidays: [],
  ignoredRegions: [],
  filterHolidays: true,
}

/** What `patchbay rules [number] [instant]` prints: every rule, or whether and why a number may be called. */
export async function describeRules(
  words: readonly string[],
  rulesFile: string | undefined,
  nowMs: number,
): Promise<string> {
  const rules = await loadCallingRules(rulesFile)
  const places = shippedPlaces()
  const [text, when] = words
  if (text === undefined) {
    const regions = ['*', 'US', 'CA', ...[...new Set([...places.areaCodes.values()].flat())].sort()]
    const seen = new Set<CallingRule>()
    const lines: string[] = []
    for (const region of regions) {
      for (const rule of rules.rulesOf(region)) {
        if (!seen.has(rule)) lines.push(lineOf(rule))
        seen.add(rule)
      }
    }
    return lines.join('\n')
  }
  const number = readProspectNumber(text, 'US')
  if (number === undefined) throw refuse(`"${text}" is no phone number that exists; write it as +12125550142.`)
  const instant = when === undefined ? new Date(nowMs) : parseInstant(when)
  if (instant === undefined) throw refuse(`"${when}" is no instant; write it as 2026-03-02T14:00:00Z.`)
  const where = places.whereaboutsOf({ number })
  const moment = new Moment(instant.getTime())
  const verdict = judgePlace(where, ANY_TIME, rules, moment)
  const next = verdict.open ? undefined : nextOpening(where, ANY_TIME, rules, instant.getTime())
  const limit = callsPer24h(where, rules)
  const clocks = where.zones.map((zone) => {
    const { date, weekday, secondOfDay } = moment.wall(zone)
    return `${zone} ${DAYS[weekday]} ${date} ${timeOf(secondOfDay)}`
  })
  return [
    `${number} at ${instant.toISOString()}: ${verdict.open ? 'may be called' : `may not be called. ${verdict.sentence}`}`,
    ...(next === undefined ? [] : [`next opening: ${new Date(next).toISOString()}`]),
    `zones: ${clocks.join('; ') || 'unknown, so it is never called'}`,
    `states: ${where.regions.join(', ') || 'unknown'}`,
    ...(limit === undefined ? [] : [`at most ${limit} calls within 24 hours`]),
    ...where.regions.flatMap((region) => rules.rulesOf(region).map(lineOf)),
  ].join('\n')
}

function lineOf(rule: CallingRule): string {
  const days = rule.hours.flatMap((hours, day) =>
    day === 0 ? [] : [`${DAYS[day]} ${hours === undefined ? 'closed' : `${timeOf(hours[0])}–${timeOf(hours[1])}`}`],
  )
  const spans = new Map<string, string[]>()
  for (const text of days) {
    const [day = '', hours = ''] = text.split(' ')
    spans.set(hours, [...(spans.get(hours) ?? []), day])
  }
  const hours = [...spans]
    .map(([span, names]) => `${names.length === 7 ? 'daily' : names.join(' ')} ${span}`)
    .join(', ')
  const more = [
    rule.zone === undefined ? '' : `, clocks of ${rule.zone}`,
    rule.closedOnHolidays ? ', not on holidays' : '',
    rule.maxCallsPer24h === undefined ? '' : `, ${rule.maxCallsPer24h} calls in 24 h`,
  ].join('')
  return `${rule.region.padEnd(6)} ${hours}${more}  [${rule.citation}, as of ${rule.asOf}]`
}

const timeOf = (second: number): string =>
  `${String(Math.floor(second / 3_600)).padStart(2, '0')}:${String(Math.floor(second / 60) % 60).padStart(2, '0')}`

function refuse(reason: string): PatchbayError {
  return new PatchbayError('configuration', { params: { reason } })
}

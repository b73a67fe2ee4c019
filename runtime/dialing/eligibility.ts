import { instantOf, type WallClock, wallClock } from '../lib/zoned-time.ts'
import { holidayOn } from './holidays.ts'
import type { CallingRule, CallingRules } from './rules.ts'
import type { Whereabouts } from './zones.ts'

/** Whether the people of a place may be called at an instant; if not, why and until when. Pure. */

/** What the campaign says of its hours. It narrows the law, never widens it. */
export interface CallingPolicy {
  /** `HH:MM:SS` in the callee's zone; `latest` itself is too late. */
  earliest: string
  latest: string
  /** ISO weekdays. */
  days: readonly number[]
  /** `YYYY-MM-DD`, without calls. */
  holidays: readonly string[]
  /** Regions that are not called, such as `US-TX`. */
  ignoredRegions: readonly string[]
  /** Keeps the holidays of places whose law forbids calls on them. */
  filterHolidays: boolean
}

export type PlaceHold = 'unknown_zone' | 'state' | 'holiday' | 'window'

type WindowVerdict = { open: true } | { open: false; reason: PlaceHold; sentence: string }

/** An instant as the clocks of all zones show it, each zone read once. */
export class Moment {
  readonly ms: number
  readonly #walls = new Map<string, WallClock>()

  constructor(ms: number) {
    this.ms = ms
  }

  wall(zone: string): WallClock {
    let wall = this.#walls.get(zone)
    if (wall === undefined) {
      wall = wallClock(this.ms, zone)
      this.#walls.set(zone, wall)
    }
    return wall
  }
}

const OPEN: WindowVerdict = { open: true }

/** The strictest of all zones, all rows of the law and the campaign's own hours. Unknown places are closed. */
export function judgePlace(where: Whereabouts, policy: CallingPolicy, rules: CallingRules, at: Moment): WindowVerdict {
  if (where.zones.length === 0 || where.regions.length === 0) {
    return closed('unknown_zone', 'The time zone of the number is unknown')
  }
  const ignored = where.regions.find((region) => policy.ignoredRegions.includes(region))
  if (ignored !== undefined) return closed('state', `The campaign leaves out ${ignored}`)
  let window: WindowVerdict | undefined
  for (const zone of where.zones) {
    const own = judgeOwnHours(zone, policy, at)
    if (!own.open && own.reason === 'holiday') return own
    if (!own.open) window ??= own
    for (const region of where.regions) {
      for (const rule of rules.rulesOf(region)) {
        const verdict = judgeRule(rule, region, zone, policy, rules, at)
        if (verdict.open) continue
        if (verdict.reason === 'holiday') return verdict
        window ??= verdict
      }
    }
  }
  return window ?? OPEN
}

function judgeOwnHours(zone: string, policy: CallingPolicy, at: Moment): WindowVerdict {
  const { date, weekday, secondOfDay } = at.wall(zone)
  if (policy.holidays.includes(date)) return closed('holiday', `${date} is a holiday of the campaign`)
  if (!policy.days.includes(weekday)) return closed('window', `It is ${DAYS[weekday]} in ${zone}`)
  if (secondOfDay < secondsOf(policy.earliest) || secondOfDay >= secondsOf(policy.latest)) {
    return closed(
      'window',
      `It is ${timeOf(secondOfDay)} in ${zone}; the campaign calls ${policy.earliest}–${policy.latest}`,
    )
  }
  return OPEN
}

function judgeRule(
  rule: CallingRule,
  region: string,
  zone: string,
  policy: CallingPolicy,
  rules: CallingRules,
  at: Moment,
): WindowVerdict {
  const clockZone = rule.zone ?? zone
  const { date, weekday, secondOfDay } = at.wall(clockZone)
  if (rule.closedOnHolidays && policy.filterHolidays) {
    const holiday = holidayOn(date, region, rules)
    if (holiday !== undefined) return closed('holiday', `${region} keeps ${holiday} (${rule.citation})`)
  }
  const hours = rule.hours[weekday]
  if (hours === undefined) return closed('window', `${region} allows no calls on a ${DAYS[weekday]} (${rule.citation})`)
  if (secondOfDay < hours[0] || secondOfDay >= hours[1]) {
    const span = `${timeOf(hours[0])}–${timeOf(hours[1])}`
    return closed('window', `It is ${timeOf(secondOfDay)} in ${clockZone}; ${region} allows ${span} (${rule.citation})`)
  }
  return OPEN
}

const DAY_MS = 86_400_000
const HORIZON_MS = 32 * DAY_MS

/** The first instant from `fromMs` on at which the place is open; undefined when none comes within a month. */
export function nextOpening(
  where: Whereabouts,
  policy: CallingPolicy,
  rules: CallingRules,
  fromMs: number,
): number | undefined {
  if (judgePlace(where, policy, rules, new Moment(fromMs)).open) return fromMs
  if (where.zones.length === 0 || where.regions.length === 0) return undefined
  if (where.regions.some((region) => policy.ignoredRegions.includes(region))) return undefined
  const starts = new Map<string, Set<number>>()
  const add = (zone: string, second: number) => starts.set(zone, (starts.get(zone) ?? new Set()).add(second))
  for (const zone of where.zones) {
    add(zone, secondsOf(policy.earliest))
    for (const region of where.regions) {
      for (const rule of rules.rulesOf(region)) {
        for (const hours of rule.hours) if (hours !== undefined) add(rule.zone ?? zone, hours[0])
      }
    }
  }
  // Day after day, for most places open on the next: an instant is judged once no zone can have an earlier one left.
  const pending = new Set<number>()
  const zones = [...starts].map(([zone, seconds]) => {
    return { zone, seconds, todayMs: Date.parse(`${wallClock(fromMs, zone).date}T00:00:00Z`) }
  })
  const endMs = fromMs + HORIZON_MS
  let knownUntilMs = fromMs
  for (let day = 0; knownUntilMs < endMs; day++) {
    knownUntilMs = Number.POSITIVE_INFINITY
    for (const { zone, seconds, todayMs } of zones) {
      const midnightMs = todayMs + day * DAY_MS
      for (const second of seconds) pending.add(instantOf(midnightMs + second * 1_000, zone))
      knownUntilMs = Math.min(knownUntilMs, instantOf(midnightMs + DAY_MS, zone))
    }
    for (const ms of [...pending].sort((a, b) => a - b)) {
      if (ms > endMs) return undefined
      if (ms > knownUntilMs) break
      pending.delete(ms)
      if (ms > fromMs && judgePlace(where, policy, rules, new Moment(ms)).open) return ms
    }
  }
  return undefined
}

/** Most attempts the law allows on one number within 24 hours; undefined: any. */
export function callsPer24h(where: Whereabouts, rules: CallingRules): number | undefined {
  const limits = where.regions.flatMap((region) => rules.rulesOf(region).map((rule) => rule.maxCallsPer24h))
  const known = limits.filter((limit) => limit !== undefined)
  return known.length === 0 ? undefined : Math.min(...known)
}

function closed(reason: PlaceHold, sentence: string): WindowVerdict {
  return { open: false, reason, sentence }
}

const DAYS = ['', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']

/** `HH:MM` or `HH:MM:SS`. */
function secondsOf(time: string): number {
  const [hour = 0, minute = 0, second = 0] = time.split(':').map(Number)
  return hour * 3_600 + minute * 60 + second
}

function timeOf(second: number): string {
  return `${String(Math.floor(second / 3_600)).padStart(2, '0')}:${String(Math.floor(second / 60) % 60).padStart(2, '0')}`
}

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import Type, { type Static } from 'typebox'
import { Compile } from 'typebox/compile'
import { PatchbayError } from '../lib/errors.ts'
import { isTimeZone } from '../lib/zoned-time.ts'

/** The law as data: config/calling-rules.json, and the operator's own rows. */

const REGION = '^(\\*|[A-Z]{2}(-[A-Z0-9]{1,3})?)$'
const HOURS = '^([01]\\d|2[0-3]):[0-5]\\d-(([01]\\d|2[0-3]):[0-5]\\d|24:00)$'
const DATE = '^\\d{4}-\\d\\d-\\d\\d$'

const Holiday = Type.Object(
  {
    name: Type.String({ minLength: 1 }),
    /** `MM-DD`, each year. */
    date: Type.Optional(Type.String({ pattern: '^(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])$' })),
    /** On a weekend it is kept on the nearest working day, too. */
    observed: Type.Optional(Type.Boolean()),
    month: Type.Optional(Type.Integer({ minimum: 1, maximum: 12 })),
    /** ISO. */
    weekday: Type.Optional(Type.Integer({ minimum: 1, maximum: 7 })),
    /** Its occurrence in the month, from 1; -1: the last. */
    nth: Type.Optional(Type.Integer({ minimum: -1, maximum: 5 })),
    plus_days: Type.Optional(Type.Integer({ minimum: -10, maximum: 10 })),
    /** Days after Easter Sunday. */
    easter_days: Type.Optional(Type.Integer({ minimum: -70, maximum: 70 })),
  },
  { additionalProperties: false },
)

const Rule = Type.Object(
  {
    /** `US-FL`, `US`, or `*` for countries without a row. */
    region: Type.String({ pattern: REGION }),
    /** Weekdays (`1-5`, `6`) → hours; a day without any is closed. */
    hours: Type.Record(Type.String({ pattern: '^[1-7](-[1-7])?$' }), Type.String({ pattern: HOURS }), {
      additionalProperties: false,
    }),
    /** The hours are of this zone, wherever the callee is. */
    zone: Type.Optional(Type.String()),
    closed_on_holidays: Type.Optional(Type.Boolean()),
    max_calls_per_24h: Type.Optional(Type.Integer({ minimum: 1 })),
    citation: Type.String({ minLength: 1 }),
    as_of: Type.String({ pattern: DATE }),
  },
  { additionalProperties: false },
)

const Locale = Type.Object(
  {
    title: Type.String(),
    /** Of numbers without a country code. */
    default_country: Type.String({ pattern: '^[A-Z]{2}$' }),
    countries: Type.Array(Type.String({ pattern: '^[A-Z]{2}$' }), { minItems: 1 }),
  },
  { additionalProperties: false },
)

const Table = Type.Object(
  {
    about: Type.Optional(Type.String()),
    locales: Type.Optional(
      Type.Record(Type.String({ pattern: '^[A-Z]{2,8}$' }), Locale, { additionalProperties: false }),
    ),
    rules: Type.Optional(Type.Array(Rule)),
    holidays: Type.Optional(
      Type.Record(Type.String({ pattern: REGION }), Type.Array(Holiday), { additionalProperties: false }),
    ),
    /** Days without calls that no calendar knows. */
    proclaimed: Type.Optional(
      Type.Array(
        Type.Object(
          {
            region: Type.String({ pattern: REGION }),
            date: Type.String({ pattern: DATE }),
            name: Type.String(),
          },
          { additionalProperties: false },
        ),
      ),
    ),
  },
  { additionalProperties: false },
)

export type HolidayRule = Static<typeof Holiday>
type Locale = Static<typeof Locale>
type TableData = Static<typeof Table>

/** One row, ready to be asked. */
export interface CallingRule {
  readonly region: string
  /** By ISO weekday: from and to in seconds of the day; undefined: closed. */
  readonly hours: readonly (readonly [number, number] | undefined)[]
  readonly zone: string | undefined
  readonly closedOnHolidays: boolean
  readonly maxCallsPer24h: number | undefined
  readonly citation: string
  readonly asOf: string
}

export interface CallingRules {
  readonly locales: ReadonlyMap<string, Locale>
  /** Rows of the place and of its country; of `*` where the country has none. */
  rulesOf(region: string): readonly CallingRule[]
  readonly holidays: ReadonlyMap<string, readonly HolidayRule[]>
  readonly proclaimed: readonly { region: string; date: string; name: string }[]
}

const SHIPPED = join(import.meta.dirname, '../../config/calling-rules.json')
const tableCheck = Compile(Table)

/** Reads the shipped rules and those of `ownFile`, whose rows replace the shipped ones of the same place. Throws `configuration`. */
export async function loadCallingRules(ownFile?: string): Promise<CallingRules> {
  const [shipped, own] = await Promise.all([readTable(SHIPPED), ownFile ? readTable(ownFile) : {}])
  return makeCallingRules(shipped, own)
}

async function readTable(file: string): Promise<TableData> {
  const refuse = (detail: string, cause?: unknown): never => {
    const reason = `The calling rules in ${file} can't be used: ${detail}. Correct the file, or unset PATCHBAY_CALLING_RULES; nobody is called by rules with a fault.`
    throw new PatchbayError('configuration', { params: { reason }, cause })
  }
  let table: unknown
  try {
    table = JSON.parse(await readFile(file, 'utf8'))
  } catch (error) {
    return refuse((error as Error).message, error)
  }
  if (!tableCheck.Check(table)) {
    const [fault] = tableCheck.Errors(table)
    return refuse(`${fault?.instancePath || '/'} ${fault?.message ?? 'does not fit'}`)
  }
  for (const [at, rule] of (table.rules ?? []).entries()) {
    const wrong = faultOf(rule)
    if (wrong !== undefined) return refuse(`/rules/${at} (${rule.region}) ${wrong}`)
  }
  for (const [region, holidays] of Object.entries(table.holidays ?? {})) {
    for (const holiday of holidays) {
      const kinds = [holiday.date, holiday.easter_days, holiday.nth].filter((kind) => kind !== undefined)
      const whole = holiday.nth === undefined || (holiday.month !== undefined && holiday.weekday !== undefined)
      if (kinds.length !== 1 || !whole || holiday.nth === 0) {
        return refuse(
          `/holidays/${region} "${holiday.name}" needs one of date, easter_days, or month with weekday and nth`,
        )
      }
    }
  }
  return table
}

function faultOf(rule: Static<typeof Rule>): string | undefined {
  if (rule.zone !== undefined && !isTimeZone(rule.zone)) return `names the unknown time zone "${rule.zone}"`
  const seen = new Set<number>()
  for (const [days, hours] of Object.entries(rule.hours)) {
    for (const day of weekdaysOf(days)) {
      if (seen.has(day)) return `says the hours of weekday ${day} twice`
      seen.add(day)
    }
    if (weekdaysOf(days).length === 0) return `has weekdays "${days}" that end before they begin`
    const [from, to] = secondsOf(hours)
    if (from >= to) return `has hours "${hours}" that end before they begin`
  }
  return undefined
}

function weekdaysOf(days: string): number[] {
  const [from = 0, to = from] = days.split('-').map(Number)
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => from + i)
}

function secondsOf(hours: string): [number, number] {
  const [from = 0, to = 0] = hours.split('-').map((time) => {
    const [hour = 0, minute = 0] = time.split(':').map(Number)
    return hour * 3_600 + minute * 60
  })
  return [from, to]
}

/** Both tables are checked. */
function makeCallingRules(shipped: TableData, own: TableData = {}): CallingRules {
  const replaced = new Set((own.rules ?? []).map(({ region }) => region))
  const rows = [...(shipped.rules ?? []).filter(({ region }) => !replaced.has(region)), ...(own.rules ?? [])]
  const byRegion = new Map<string, CallingRule[]>()
  for (const row of rows) {
    const hours: (readonly [number, number] | undefined)[] = Array(8).fill(undefined)
    for (const [days, text] of Object.entries(row.hours)) {
      for (const day of weekdaysOf(days)) hours[day] = secondsOf(text)
    }
    const rule: CallingRule = {
      region: row.region,
      hours,
      zone: row.zone,
      closedOnHolidays: row.closed_on_holidays ?? false,
      maxCallsPer24h: row.max_calls_per_24h,
      citation: row.citation,
      asOf: row.as_of,
    }
    byRegion.set(row.region, [...(byRegion.get(row.region) ?? []), rule])
  }
  const of = new Map<string, readonly CallingRule[]>()
  return {
    locales: new Map(Object.entries({ ...shipped.locales, ...own.locales })),
    rulesOf(region) {
      let rules = of.get(region)
      if (rules === undefined) {
        const country = region.slice(0, 2)
        const ofCountry = byRegion.get(country) ?? byRegion.get('*') ?? []
        rules = region === country ? ofCountry : [...ofCountry, ...(byRegion.get(region) ?? [])]
        of.set(region, rules)
      }
      return rules
    },
    holidays: new Map(Object.entries({ ...shipped.holidays, ...own.holidays })),
    proclaimed: [...(shipped.proclaimed ?? []), ...(own.proclaimed ?? [])],
  }
}

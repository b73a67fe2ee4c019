import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import {
  type CallingPolicy,
  callsPer24h,
  judgePlace,
  Moment,
  nextOpening,
} from '../../../../runtime/dialing/eligibility.ts'
import { holidayOn } from '../../../../runtime/dialing/holidays.ts'
import { openingsOf } from '../../../../runtime/dialing/openings.ts'
import { loadCallingRules } from '../../../../runtime/dialing/rules.ts'
import { shippedPlaces } from '../../../../runtime/dialing/zones.ts'
import { wallClock } from '../../../../runtime/lib/zoned-time.ts'
import { testFolder } from '../../../support/instance/services.ts'

const POLICY: CallingPolicy = {
  earliest: '00:00:00',
  latest: '23:59:59',
  days: [1, 2, 3, 4, 5, 6, 7],
  holidays: [],
  ignoredRegions: [],
  filterHolidays: true,
}
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

t.test('hours of the law, in the clocks of every zone', async (t) => {
  const rules = await loadCallingRules()
  const places = shippedPlaces()
  const open = (where: { zones: string[]; regions: string[] }, iso: string, policy = POLICY) =>
    judgePlace(where, policy, rules, new Moment(Date.parse(iso)))
  const place = (zone: string, region: string) => ({ zones: [zone], regions: [region] })
  const cases: [string, string, string, boolean | string][] = [
    // 2026-03-02 is a Monday, 2026-03-01 a Sunday.
    ['America/New_York', 'US-NY', '2026-03-02T12:59:59Z', 'window'],
    ['America/New_York', 'US-NY', '2026-03-02T13:00:00Z', true],
    ['America/New_York', 'US-NY', '2026-03-03T01:59:59Z', true],
    ['America/New_York', 'US-NY', '2026-03-03T02:00:00Z', 'window'],
    ['America/New_York', 'US-FL', '2026-03-03T01:00:00Z', 'window'],
    ['America/New_York', 'US-KY', '2026-03-02T14:30:00Z', 'window'],
    ['America/Chicago', 'US-TX', '2026-03-01T17:59:00Z', 'window'],
    ['America/Chicago', 'US-TX', '2026-03-01T18:00:00Z', true],
    ['America/Chicago', 'US-AL', '2026-03-01T18:00:00Z', 'window'],
    ['America/New_York', 'US-RI', '2026-03-07T16:00:00Z', true],
    ['America/New_York', 'US-RI', '2026-03-07T22:30:00Z', 'window'],
    ['America/Toronto', 'CA-ON', '2026-03-07T14:59:00Z', 'window'],
    ['America/Toronto', 'CA-ON', '2026-03-02T14:00:00Z', true],
    ['America/New_York', 'US-PA', '2026-04-03T16:00:00Z', 'holiday'],
    ['America/Denver', 'US-UT', '2026-07-24T18:00:00Z', 'holiday'],
    ['America/Chicago', 'US-LA', '2026-02-17T18:00:00Z', 'holiday'],
    ['America/New_York', 'US-RI', '2026-05-04T16:00:00Z', 'holiday'],
    ['America/New_York', 'US-NY', '2026-12-25T18:00:00Z', true],
    // Mississippi's hours are Central, wherever the phone is.
    ['America/New_York', 'US-MS', '2026-03-02T13:30:00Z', 'window'],
    ['Europe/Berlin', 'DE', '2026-03-02T06:59:00Z', 'window'],
    ['Europe/Berlin', 'DE', '2026-03-02T07:00:00Z', true],
  ]
  for (const [zone, region, iso, expected] of cases) {
    const verdict = open(place(zone, region), iso)
    t.equal(verdict.open ? true : verdict.reason, expected, `${region} in ${zone} at ${iso}`)
  }
  t.notOk(open(place('Europe/London', 'DE'), '2026-07-01T22:00:00+01:00').open)
  t.match(open({ zones: [], regions: ['US-NY'] }, '2026-03-02T17:00:00Z'), { reason: 'unknown_zone' })
  t.match(open(place('America/New_York', 'US-PA'), '2026-04-03T16:00:00Z', { ...POLICY, filterHolidays: false }), {
    open: true,
  })
  t.match(open(place('America/New_York', 'US-NY'), '2026-03-02T17:00:00Z', { ...POLICY, ignoredRegions: ['US-NY'] }), {
    reason: 'state',
  })
  t.match(open(place('America/New_York', 'US-NY'), '2026-03-02T17:00:00Z', { ...POLICY, holidays: ['2026-03-02'] }), {
    reason: 'holiday',
  })
  t.match(open(place('America/New_York', 'US-NY'), '2026-03-02T17:00:00Z', { ...POLICY, days: [2] }), {
    reason: 'window',
  })
  t.equal(callsPer24h(place('America/New_York', 'US-FL'), rules), 3)
  t.equal(callsPer24h(place('America/New_York', 'US-NY'), rules), undefined)

  await t.test('the nights the clocks change', async (t) => {
    const policy = { ...POLICY, earliest: '09:00:00', latest: '21:00:00' }
    const where = place('America/New_York', 'US-NY')
    t.equal(nextOpening(where, policy, rules, Date.parse('2026-03-08T05:00:00Z')), Date.parse('2026-03-08T13:00:00Z'))
    t.equal(nextOpening(where, policy, rules, Date.parse('2026-11-01T04:00:00Z')), Date.parse('2026-11-01T14:00:00Z'))
  })

  await t.test('holidays, observed ones too', async (t) => {
    const names: [string, string, string | undefined][] = [
      ['2026-07-03', 'US-UT', 'Independence Day'],
      ['2026-07-04', 'US-UT', 'Independence Day'],
      ['2027-12-31', 'US-UT', "New Year's Day"],
      ['2027-07-05', 'US-UT', 'Independence Day'],
      ['2026-05-25', 'US-AL', 'Memorial Day'],
      ['2026-11-26', 'US-LA', 'Thanksgiving Day'],
      ['2026-11-27', 'US-LA', 'Day after Thanksgiving'],
      ['2026-11-03', 'US-PA', 'Election Day'],
      ['2026-08-10', 'US-RI', 'Victory Day'],
      ['2026-11-27', 'US-PA', undefined],
    ]
    for (const [date, region, name] of names) t.equal(holidayOn(date, region, rules), name, `${date} ${region}`)
  })

  await t.test('days that were proclaimed, in a state or in all', async (t) => {
    const folder = await testFolder(t)
    const file = join(folder, 'rules.json')
    const proclaimed = [
      { region: 'US-LA', date: '2026-03-10', name: 'Day of mourning' },
      { region: 'US', date: '2026-03-11', name: 'Day of thanks' },
    ]
    await writeFile(file, JSON.stringify({ proclaimed }))
    const own = await loadCallingRules(file)
    t.equal(holidayOn('2026-03-10', 'US-LA', own), 'Day of mourning')
    t.equal(holidayOn('2026-03-10', 'US-PA', own), undefined)
    t.equal(holidayOn('2026-03-11', 'US-PA', own), 'Day of thanks')
    const noon = new Moment(Date.parse('2026-03-10T18:00:00Z'))
    t.match(judgePlace(place('America/Chicago', 'US-LA'), POLICY, own, noon), { open: false, reason: 'holiday' })
  })

  const regions = [...new Set([...places.areaCodes.values()].flat())]
  const codes = [...places.areaCodes.keys()]
  const anyWhere = fc
    .record({
      code: fc.constantFrom(...codes),
      state: fc.option(fc.constantFrom(...regions.map((region) => region.slice(3)))),
      postalCode: fc.option(fc.constantFrom('10001', '79901', '90210', 'K1A 0B1', '00000')),
      timezone: fc.option(fc.constantFrom('America/New_York', 'Pacific/Honolulu', 'Mars/Olympus')),
    })
    .map(({ code, ...rest }) => places.whereaboutsOf({ number: `+1${code}5550142`, ...rest }))
  const anyPolicy = fc
    .record({
      from: fc.integer({ min: 0, max: 22 }),
      hours: fc.integer({ min: 1, max: 23 }),
      days: fc.subarray([1, 2, 3, 4, 5, 6, 7]),
    })
    .map(({ from, hours, days }): CallingPolicy => {
      const clock = (hour: number) => `${String(hour).padStart(2, '0')}:00:00`
      return { ...POLICY, earliest: clock(from), latest: clock(Math.min(23, from + hours)), days }
    })
  const anyInstant = fc.integer({ min: Date.parse('2026-01-01'), max: Date.parse('2028-01-01') })

  await t.test('whoever may be called is within the campaign and the federal hours in every zone', async () => {
    fc.assert(
      fc.property(anyWhere, anyPolicy, anyInstant, (where, policy, ms) => {
        if (!judgePlace(where, policy, rules, new Moment(ms)).open) return
        if (where.zones.length === 0) throw new Error('an unknown zone is open')
        for (const zone of where.zones) {
          const { secondOfDay, weekday } = wallClock(ms, zone)
          const hour = secondOfDay / 3_600
          if (!policy.days.includes(weekday)) throw new Error('a day without calls')
          if (hour < Number(policy.earliest.slice(0, 2)) || hour >= Number(policy.latest.slice(0, 2)))
            throw new Error('own hours')
          if (hour < 8 || hour >= 21.5) throw new Error('the law')
          if (where.regions.some((region) => region.startsWith('US')) && hour >= 21) throw new Error('federal hours')
        }
      }),
      { numRuns: 1_500 },
    )
  })

  await t.test('the next opening is open, and nothing before it is', async () => {
    fc.assert(
      fc.property(
        anyWhere,
        anyPolicy,
        anyInstant,
        fc.float({ min: 0, max: Math.fround(0.999), noNaN: true }),
        (where, policy, ms, share) => {
          const next = nextOpening(where, policy, rules, ms)
          const at = (instant: number) => judgePlace(where, policy, rules, new Moment(instant)).open
          if (next === undefined) {
            for (let hour = 0; hour < 24 * 14; hour++)
              if (at(ms + hour * HOUR_MS)) throw new Error('it opens after all')
            return
          }
          if (next < ms) throw new Error('it lies behind')
          if (!at(next)) throw new Error('closed when it opens')
          if (next > ms && at(ms + Math.floor((next - ms) * share))) throw new Error('open before')
        },
      ),
      { numRuns: 300 },
    )
  })

  await t.test('an opening that was reckoned before is that of now, in whatever order it is asked for', async () => {
    const instants = fc.array(fc.integer({ min: 0, max: 14 * 24 * 60 }), { minLength: 2, maxLength: 8 })
    fc.assert(
      fc.property(
        anyWhere,
        anyWhere,
        anyPolicy,
        anyPolicy,
        anyInstant,
        instants,
        (a, b, own, other, fromMs, minutes) => {
          for (const minute of minutes) {
            for (const where of [a, b]) {
              for (const policy of [own, other]) {
                const ms = fromMs + minute * 60_000
                const opensMs = openingsOf(policy, rules)(where, ms)
                if (opensMs !== nextOpening(where, policy, rules, ms)) throw new Error('not what it is now')
              }
            }
          }
        },
      ),
      { numRuns: 40 },
    )
  })

  await t.test('more that is known of somebody never opens hours that were closed', async () => {
    fc.assert(
      fc.property(fc.constantFrom(...codes), fc.constantFrom(...regions), anyInstant, (code, region, ms) => {
        const number = `+1${code}5550142`
        const [bare, more] = [places.whereaboutsOf({ number }), places.whereaboutsOf({ number, state: region })]
        const closed = !judgePlace(bare, POLICY, rules, new Moment(ms)).open
        if (closed && judgePlace(more, POLICY, rules, new Moment(ms)).open) throw new Error('it opened')
      }),
      { numRuns: 1_000 },
    )
  })
})

t.test('the first opening within a month is found, on its last day too, however far apart its zones are', async () => {
  // Of whole hours, so that places open at whole hours.
  const zones = ['Pacific/Kiritimati', 'Asia/Tokyo', 'Europe/Berlin', 'America/New_York', 'Pacific/Honolulu']
  const hours = fc.record({ from: fc.integer({ min: 0, max: 22 }), hours: fc.integer({ min: 1, max: 23 }) })
  const ruleOf = (zone: string | undefined, from: number, hours: number) => {
    const span = [from * 3_600, Math.min(24, from + hours) * 3_600] as const
    return {
      ...{ region: 'ZZ', hours: Array.from({ length: 8 }, () => span), zone, closedOnHolidays: false },
      ...{ maxCallsPer24h: undefined, citation: 'c', asOf: '2026-01-01' },
    }
  }
  const anyRule = fc
    .record({ zone: fc.option(fc.constantFrom(...zones), { nil: undefined }), hours })
    .map(({ zone, hours: { from, hours } }) => ruleOf(zone, from, hours))
  fc.assert(
    fc.property(
      fc.subarray(zones, { minLength: 1, maxLength: 2 }),
      anyRule,
      hours,
      fc.integer({ min: Date.parse('2026-01-01') / HOUR_MS, max: Date.parse('2028-01-01') / HOUR_MS }),
      fc.subarray([0, 31, 32], { minLength: 1, maxLength: 2 }),
      (zones, rule, { from, hours }, fromHour, daysWithCalls) => {
        const fromMs = fromHour * HOUR_MS
        const dateOf = (day: number) => new Date(fromMs + day * DAY_MS).toISOString().slice(0, 10)
        const days = Array.from({ length: 40 }, (_, at) => at - 2)
        const policy: CallingPolicy = {
          ...POLICY,
          earliest: `${String(from).padStart(2, '0')}:00:00`,
          latest: `${String(Math.min(24, from + hours)).padStart(2, '0')}:00:00`,
          holidays: days.filter((day) => !daysWithCalls.includes(day)).map(dateOf),
        }
        const rules = { locales: new Map(), rulesOf: () => [rule], holidays: new Map(), proclaimed: [] }
        const where = { zones, regions: ['ZZ'] }
        const first = Array.from({ length: 32 * 24 + 1 }, (_, hour) => fromMs + hour * HOUR_MS)
          // Somewhere it is such a day.
          .filter((ms) =>
            daysWithCalls.some((day) => Math.abs(ms - Date.parse(`${dateOf(day)}T12:00Z`)) <= 27 * HOUR_MS),
          )
          .find((ms) => judgePlace(where, policy, rules, new Moment(ms)).open)
        const found = nextOpening(where, policy, rules, fromMs)
        if (found !== first) throw new Error(`${found} instead of ${first}`)
      },
    ),
    {
      numRuns: 60,
      // New York's afternoon of its last day is another day in Tokyo.
      examples: [
        [
          ['Asia/Tokyo'],
          ruleOf('America/New_York', 15, 8),
          { from: 0, hours: 24 },
          Date.parse('2026-01-05T12:00Z') / HOUR_MS,
          [32],
        ],
      ],
    },
  )
})

t.test('a rules file with a fault is refused by name, and none of it is used', async (t) => {
  const folder = await testFolder(t)
  const refused = async (name: string, content: string) => {
    const file = join(folder, name)
    await writeFile(file, content)
    return loadCallingRules(file).then(
      () => '',
      (error) => error.message as string,
    )
  }
  const rule = (more: object) =>
    JSON.stringify({
      rules: [{ region: 'US-TX', hours: { '1-7': '09:00-21:00' }, citation: 'c', as_of: '2026-01-01', ...more }],
    })
  t.match(await refused('a', '{'), /a can't be used: .*JSON/)
  t.match(
    await refused('b', rule({ hours: { '1-7': '21:00-09:00' } })),
    /\(US-TX\) has hours "21:00-09:00" that end before they begin/,
  )
  t.match(await refused('c', rule({ hours: { '1-5': '09:00-21:00', '5': '09:00-10:00' } })), /weekday 5 twice/)
  t.match(await refused('d', rule({ zone: 'Mars/Olympus' })), /unknown time zone "Mars\/Olympus"/)
  t.match(await refused('e', rule({ hours: { '0-7': '09:00-21:00' } })), /can't be used/)
  t.match(await refused('f', JSON.stringify({ holidays: { US: [{ name: 'x' }] } })), /"x" needs one of/)
  t.equal(await refused('g', rule({ hours: { '1-5': '10:00-11:00' } })), '')
})

import t from 'tap'
import { callsPer24h, judgePlace, Moment } from '../../../../runtime/dialing/eligibility.ts'
import { loadCallingRules } from '../../../../runtime/dialing/rules.ts'

/** The hours of each place as counsel would read them out; a day that is left out is closed. */
const LAW: Readonly<Record<string, string>> = {
  '*': 'Mon-Sun 08:00-21:00',
  US: 'Mon-Sun 08:00-21:00',
  CA: 'Mon-Fri 09:00-21:30, Sat-Sun 10:00-18:00',
  'US-AL': 'Mon-Sat 08:00-20:00, holidays closed',
  'US-CT': 'Mon-Sun 09:00-20:00',
  'US-FL': 'Mon-Sun 08:00-20:00, 3 in 24 hours',
  'US-IL': 'Mon-Sun 09:00-21:00',
  'US-KY': 'Mon-Sun 10:00-21:00',
  'US-LA': 'Mon-Sat 08:00-20:00, holidays closed',
  'US-MA': 'Mon-Sun 08:00-20:00',
  'US-MD': 'Mon-Sun 08:00-20:00, 3 in 24 hours',
  'US-ME': 'Mon-Fri 09:00-17:00',
  'US-MI': 'Mon-Sun 09:00-21:00',
  'US-MN': 'Mon-Sun 09:00-21:00',
  'US-MS': 'Mon-Sat 08:00-20:00, in America/Chicago',
  'US-NM': 'Mon-Sun 09:00-21:00',
  'US-NV': 'Mon-Sun 09:00-20:00',
  'US-OK': 'Mon-Sun 08:00-20:00, 3 in 24 hours',
  'US-OR': 'Mon-Sun 08:00-20:00, 3 in 24 hours',
  'US-PA': 'Mon-Sun 08:00-21:00, holidays closed',
  'US-RI': 'Mon-Fri 09:00-18:00, Sat 10:00-17:00, holidays closed',
  'US-SD': 'Mon-Fri 09:00-21:00',
  'US-TX': 'Mon-Sat 09:00-21:00, Sun 12:00-21:00',
  'US-UT': 'Mon-Sat 08:00-21:00, holidays closed',
  'US-WA': 'Mon-Sun 08:00-20:00',
  'US-WY': 'Mon-Sun 08:00-20:00',
}
const DAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']
const ZONE = 'Etc/UTC'
const MINUTE_MS = 60_000
/** A Monday without a holiday in its week, anywhere. */
const MONDAY = Date.parse('2026-03-09T00:00:00Z')
const ANY_TIME = {
  ...{ earliest: '00:00:00', latest: '24:00:00', days: [1, 2, 3, 4, 5, 6, 7], holidays: [], ignoredRegions: [] },
  filterHolidays: true,
}

function hoursOf(text: string, day: number): [number, number] | undefined {
  for (const [, from = '', to = from, opens = '', closes = ''] of text.matchAll(
    /([A-Z][a-z]{2})(?:-([A-Z][a-z]{2}))? (\d\d:\d\d)-(\d\d:\d\d)/g,
  )) {
    if (day < DAYS.indexOf(from) || day > DAYS.indexOf(to)) continue
    const minute = (clock: string) => Number(clock.slice(0, 2)) * 60 + Number(clock.slice(3))
    return [minute(opens), minute(closes)]
  }
  return undefined
}

t.test('the hours of every place in the table are those of its law, to the minute', async (t) => {
  const rules = await loadCallingRules()
  const open = (region: string, ms: number) =>
    judgePlace({ zones: [ZONE], regions: [region] }, ANY_TIME, rules, new Moment(ms)).open
  for (const [region, text] of Object.entries(LAW)) {
    const own = rules.rulesOf(region === '*' ? 'ZZ' : region)
    const inZone = /in (\S+\/\S+)/.exec(text)?.[1]
    t.equal(own.at(-1)?.zone, inZone, `${region}: the zone its hours are in`)
    t.equal(own.at(-1)?.closedOnHolidays, text.includes('holidays closed'), `${region}: holidays`)
    const most = /(\d) in 24/.exec(text)?.[1]
    const where = { zones: [ZONE], regions: [region === '*' ? 'ZZ' : region] }
    t.equal(
      callsPer24h(where, rules),
      most === undefined ? undefined : Number(most),
      `${region}: calls within 24 hours`,
    )
    // Mississippi's own clock is hours behind: its edges are those of eligibility.test.ts.
    if (inZone !== undefined) continue
    const [federalOpens, federalCloses] = region.startsWith('US') ? [8 * 60, 21 * 60] : [0, 24 * 60]
    for (const day of DAYS.keys()) {
      const hours = hoursOf(text, day)
      const at = (minute: number) => open(where.regions[0] ?? '', MONDAY + (day * 24 * 60 + minute) * MINUTE_MS)
      const edges = hours ?? [12 * 60, 12 * 60]
      const opens = Math.max(federalOpens, edges[0])
      const closes = Math.min(federalCloses, edges[1])
      const seen = [at(opens - 1), at(opens), at(closes - 1), at(closes)]
      const isOpen = hours !== undefined
      t.same(seen, [false, isOpen, isOpen, false], `${region} on ${DAYS[day]}`)
    }
  }
})

t.test('a call that a law forbids is refused with its citation', async (t) => {
  const rules = await loadCallingRules()
  for (const region of Object.keys(LAW)) {
    const where = { zones: [ZONE], regions: [region === '*' ? 'ZZ' : region] }
    const { citation } = rules.rulesOf(where.regions[0]!).at(-1)!
    const refusedWith = (ms: number) => {
      const verdict = judgePlace(where, ANY_TIME, rules, new Moment(ms))
      return verdict.open ? '' : verdict.sentence
    }
    // Good Friday is a holiday where nothing else is stricter than the federal hours.
    const instants = [Date.parse('2026-04-03T12:00:00Z')]
    for (let minute = 0; minute < 7 * 24 * 60; minute += 30) instants.push(MONDAY + minute * MINUTE_MS)
    t.ok(
      instants.some((ms) => refusedWith(ms).includes(citation)),
      `${region}: ${citation}`,
    )
  }
})

t.test('every row of the table says which law it is, and as of when it was read', async (t) => {
  const { readFile } = await import('node:fs/promises')
  const table = JSON.parse(
    await readFile(new URL('../../../../config/calling-rules.json', import.meta.url), 'utf8'),
  ) as {
    rules: { region: string; citation: string; as_of: string }[]
  }
  t.same(
    table.rules.map(({ region }) => region).toSorted(),
    Object.keys(LAW).toSorted(),
    'each row is in the table above',
  )
  for (const { region, citation, as_of } of table.rules) {
    t.match(citation, /\d/, `${region}: ${citation}`)
    t.match(as_of, /^\d{4}-\d\d-\d\d$/)
  }
})

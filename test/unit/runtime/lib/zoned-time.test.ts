import t from 'tap'
import { instantOf, isTimeZone } from '../../../../runtime/lib/zoned-time.ts'

const at = (wall: string, zone: string) => new Date(instantOf(Date.parse(`${wall}Z`), zone)).toISOString()

t.test('reads a wall-clock time in its zone', async (t) => {
  t.equal(at('2026-01-31T09:00:00', 'UTC'), '2026-01-31T09:00:00.000Z')
  t.equal(at('2026-01-31T09:00:00', 'America/New_York'), '2026-01-31T14:00:00.000Z')
  t.equal(at('2026-07-31T09:00:00', 'America/New_York'), '2026-07-31T13:00:00.000Z')
  t.equal(at('2026-07-31T09:00:00.250', 'Asia/Kolkata'), '2026-07-31T03:30:00.250Z')
  t.equal(at('2026-01-01T00:30:00', 'Pacific/Kiritimati'), '2025-12-31T10:30:00.000Z')
})

t.test('takes the first of a time that occurs twice', async (t) => {
  t.equal(at('2026-11-01T01:30:00', 'America/New_York'), '2026-11-01T05:30:00.000Z')
  t.equal(at('2026-10-25T02:30:00', 'Europe/Berlin'), '2026-10-25T00:30:00.000Z')
})

t.test('moves a time that is skipped on by as much as the clocks move', async (t) => {
  t.equal(at('2026-03-08T02:30:00', 'America/New_York'), '2026-03-08T07:30:00.000Z')
  t.equal(at('2026-03-29T02:30:00', 'Europe/Berlin'), '2026-03-29T01:30:00.000Z')
  t.equal(at('2026-10-04T02:15:00', 'Australia/Lord_Howe'), '2026-10-03T15:45:00.000Z', 'half an hour')
})

t.test('knows zones by name alone', async (t) => {
  for (const zone of ['UTC', 'Europe/Berlin', 'America/Argentina/Buenos_Aires']) t.ok(isTimeZone(zone), zone)
  for (const zone of ['', 'Mars/Olympus', '+02:00', '-0500', 'Europe']) t.notOk(isTimeZone(zone), zone)
})

import t from 'tap'
import { retryAfterMs } from '../../../../runtime/webhooks/retry-after.ts'

t.test('a receiver is left alone for as many seconds as it says, or until its date, an hour at most', (t) => {
  const nowMs = Date.parse('2026-03-01T12:00:00Z')
  const cases: readonly (readonly [string | undefined, number | undefined])[] = [
    ['60', 60_000],
    [' 5 ', 5_000],
    ['0', 0],
    ['86400', 3_600_000],
    ['Sun, 01 Mar 2026 12:01:30 GMT', 90_000],
    ['Sun, 01 Mar 2026 11:00:00 GMT', 0],
    ['Mon, 02 Mar 2026 12:00:00 GMT', 3_600_000],
    ['Sunday, 01-Mar-26 12:00:10 GMT', 10_000],
    ['-5', undefined],
    ['1.5', undefined],
    ['soon', undefined],
    ['2026', 2_026_000],
    ['', undefined],
    [undefined, undefined],
  ]
  for (const [header, waitMs] of cases) t.equal(retryAfterMs(header, nowMs), waitMs, String(header))
  t.end()
})

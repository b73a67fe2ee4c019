import type { Test } from 'tap'
import type { Got } from './quirk.ts'

/** Three calls of one answer came out of the stream, apart and in their order. */
export function threeBookings(t: Test, got: Got): void {
  t.same(
    got.calls.map(({ args }) => JSON.parse(args)),
    [{ guests: 1 }, { guests: 2 }, { guests: 3 }],
  )
  t.equal(new Set(got.calls.map(({ id }) => id)).size, 3)
}

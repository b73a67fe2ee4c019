import fc from 'fast-check'
import t from 'tap'
import { CallerClock } from '../../../../../runtime/media/line/caller-clock.ts'

const RATE_HZ = 8_000
const FRAME = 160

t.test('sound stands where it would have come without delay', (t) => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 8 * 250 }), { minLength: 2, maxLength: 100 }), (delays) => {
      const clock = new CallerClock(RATE_HZ)
      // Packets keep their order, and one of the last 50 was not delayed.
      let now = 0
      for (const [i, delay] of [...delays, 0].entries()) {
        now = Math.max(now, FRAME * (i + 1) + delay)
        clock.hear(FRAME * i, FRAME, i === delays.length ? FRAME * (i + 1) : now)
      }
      const last = delays.length
      for (let i = Math.max(0, last - 49); i <= last; i++) {
        if (Math.abs((clock.at(FRAME * i) ?? 0) - FRAME * i) > RATE_HZ / 100) return false
      }
      return true
    }),
  )
  t.end()
})

t.test('what was held up moves to where it belongs, and nothing before it', (t) => {
  const clock = new CallerClock(RATE_HZ)
  t.same(clock.hear(0, FRAME, 160), { at: 0, moved: 0, movedFrom: 0 })
  t.same(clock.hear(160, FRAME, 320), { at: 160, moved: 0, movedFrom: 0 })
  // Half a second of standstill, and everything at once.
  t.same(clock.hear(320, FRAME, 4_480), { at: 4_320, moved: 0, movedFrom: 0 })
  t.same(clock.hear(480, FRAME, 4_480), { at: 4_320, moved: 160, movedFrom: 4_320 })
  t.equal(clock.at(160), 160)
  t.equal(clock.at(320), 4_160)
  t.end()
})

t.test('a caller who sends nothing for a while goes on where they are', (t) => {
  const clock = new CallerClock(RATE_HZ)
  clock.hear(0, FRAME, 160)
  clock.hear(160, FRAME, 80_000)
  t.equal(clock.at(0), 0)
  t.equal(clock.at(160), 79_840)
  t.equal(clock.at(240), 79_920, 'within a packet')
  t.end()
})

t.test('what is settled stays where it stands', (t) => {
  const clock = new CallerClock(RATE_HZ)
  for (let i = 0; i < 100; i++) clock.hear(FRAME * i, FRAME, FRAME * (i + 1) + 800)
  t.equal(clock.hear(FRAME * 100, FRAME, FRAME * 101).moved, 800)
  t.equal(clock.at(0), 800)
  t.equal(clock.at(FRAME * 100), FRAME * 100)
  t.end()
})

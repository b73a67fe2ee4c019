import t from 'tap'
import { DeadAir } from '../../../runtime/conversation/dead-air.ts'

t.test('a caller who waits hears something within four seconds, and again', async (t) => {
  const air = new DeadAir()
  const filledAtMs: number[] = []
  air.waits(1_000)
  for (let nowMs = 1_000; nowMs < 16_000; nowMs += 20) {
    if (air.check(nowMs) !== 'fill') continue
    filledAtMs.push(nowMs)
    // The filler lasts a second.
    for (const endMs = nowMs + 1_000; nowMs < endMs; nowMs += 20) air.filling(nowMs)
  }
  t.ok(filledAtMs.length >= 3)
  let silentSinceMs = 1_000
  for (const atMs of filledAtMs) {
    t.ok(atMs - silentSinceMs < 4_000, `silence from ${silentSinceMs} to ${atMs}`)
    silentSinceMs = atMs + 1_000
  }
})

t.test('nobody who does not wait is spoken to', async (t) => {
  const air = new DeadAir()
  t.equal(air.check(10_000), undefined)
  air.waits(0)
  t.equal(air.check(1_600), 'prepare')
  t.equal(air.check(1_700), undefined, 'prepared once')
  air.over()
  t.equal(air.check(10_000), undefined)
  air.waits(20_000)
  air.waits(22_000)
  t.equal(air.check(23_000), 'fill', 'a wait counts from its beginning')
})

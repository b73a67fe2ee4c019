import { test } from 'tap'
import { Pacer } from '../../../../../runtime/media/line/pacer.ts'

/** A clock and timers moved by hand. */
function byHand() {
  let nowMs = 0
  let timer: { atMs: number; callback: () => void } | undefined
  let timers = 0
  const errors: unknown[] = []
  const pacer = new Pacer({ nowMs: () => nowMs, monotonicMs: () => nowMs }, (error) => errors.push(error), {
    setTimeout: (callback, delayMs) => {
      timers++
      timer = { atMs: nowMs + delayMs, callback }
      return timer
    },
    clearTimeout: () => {
      timer = undefined
    },
  })
  return {
    pacer,
    errors,
    /** Timers set so far. */
    timers: () => timers,
    waiting: () => timer !== undefined,
    /** Lets the pending timer fire so late. */
    fire(lateMs = 0) {
      const due = timer!
      timer = undefined
      nowMs = due.atMs + lateMs
      due.callback()
    },
    now: () => nowMs,
  }
}

test('ticks keep to absolute deadlines, however late each one is', (t) => {
  const { pacer, fire, now } = byHand()
  const ticks: [number, number][] = []
  pacer.add((frames, nowMs) => ticks.push([frames, nowMs]))
  for (let i = 0; i < 100; i++) fire(i % 7)
  t.ok(ticks.every(([frames]) => frames === 1))
  t.ok(Math.abs(now() - 100 * 20) <= 7, `100 ticks took ${now()} ms`)
  t.end()
})

test('a late tick makes up for at most three frames, then starts anew', (t) => {
  const { pacer, fire, now } = byHand()
  const frames: number[] = []
  pacer.add((count) => frames.push(count))
  fire()
  fire(25)
  fire()
  fire(500)
  const stalledAtMs = now()
  fire()
  t.strictSame(frames, [1, 2, 1, 3, 1])
  t.equal(now() - stalledAtMs, 20)
  t.end()
})

test('the timer runs only while somebody listens', (t) => {
  const { pacer, waiting, fire } = byHand()
  t.notOk(waiting())
  const leaveFirst = pacer.add(() => {})
  const leaveSecond = pacer.add(() => leaveFirst())
  t.ok(waiting())
  fire()
  t.ok(waiting())
  leaveSecond()
  t.notOk(waiting())
  t.equal(pacer.listeners, 0)
  t.end()
})

test('a listener that throws harms no other', (t) => {
  const { pacer, fire, errors } = byHand()
  let ticks = 0
  pacer.add(() => {
    throw new Error('broken')
  })
  pacer.add(() => ticks++)
  fire()
  fire()
  t.equal(ticks, 2)
  t.equal(errors.length, 2)
  t.end()
})

test('who joins during a tick starts no timer of its own', (t) => {
  const { pacer, fire, timers } = byHand()
  const leave = pacer.add(() => {
    leave()
    pacer.add(() => {})
  })
  fire()
  t.equal(timers(), 2, 'one for the first tick, one for the next')
  fire()
  t.equal(timers(), 3)
  t.end()
})

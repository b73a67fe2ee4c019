import { readFileSync } from 'node:fs'
import t from 'tap'
import { systemClock } from '../../../../runtime/lib/clock.ts'
import { Pacer } from '../../../../runtime/media/line/pacer.ts'
import { yieldingTicker } from '../../../../workers/voice/yielding-ticker.ts'

const TICKS = 50

/** How often this thread left its core of itself. */
const rests = (): number =>
  Number(/^voluntary_ctxt_switches:\s*(\d+)/m.exec(readFileSync('/proc/thread-self/status', 'utf8'))?.[1])

/** After how many of so many ticks the loop leaves its core before it goes on with what is waiting. */
async function restsOf(isRealtime: boolean): Promise<number> {
  const ticker = yieldingTicker(() => isRealtime)
  const pacer = new Pacer(systemClock, () => {}, ticker)
  const { promise, resolve } = Promise.withResolvers<void>()
  let ticks = 0
  let rested = 0
  const leave = pacer.add(() => {
    const before = rests()
    setImmediate(() => {
      if (rests() > before) rested++
      if (++ticks === TICKS) resolve()
    })
  })
  await promise
  leave()
  return rested
}

t.test(
  'a loop in real time leaves its core for a moment after each tick, and one that shares the processor does not',
  { skip: process.platform !== 'linux' && 'there is real time on Linux alone' },
  async (t) => {
    const polite = await restsOf(true)
    t.ok(polite > TICKS * 0.8, `${polite} rests`)
    const usual = await restsOf(false)
    t.ok(usual < TICKS / 2, `${usual} rests`)
  },
)

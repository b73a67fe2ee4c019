import t from 'tap'
import { Rereading } from '../../../../../plugins/sip/trunk/rereading.ts'

/** What is read takes until `finish`, and is as it was when the reading began. */
function world() {
  let version = 0
  let known = 0
  const readings: (() => void)[] = []
  const rereading = new Rereading(async () => {
    const begunAt = version
    await new Promise<void>((resolve) => readings.push(resolve))
    known = begunAt
  })
  return {
    rereading,
    readings,
    change: () => version++,
    known: () => known,
    finish: () => readings.shift()?.(),
  }
}

t.test('a change is known once it was waited for, though a reading was under way that missed it', async (t) => {
  const { rereading, readings, change, known, finish } = world()
  change()
  const first = rereading.again()
  change()
  const second = rereading.again()
  change()
  const third = rereading.again()
  t.equal(readings.length, 1, 'one at a time')
  finish()
  await first
  t.equal(known(), 1)
  await new Promise(setImmediate)
  t.equal(readings.length, 1, 'one for all that came meanwhile')
  finish()
  await Promise.all([second, third])
  t.equal(known(), 3)
  t.equal(readings.length, 0)
})

t.test('after a pause it reads at once', async (t) => {
  const { rereading, readings, change, known, finish } = world()
  for (const version of [1, 2]) {
    change()
    const reading = rereading.again()
    t.equal(readings.length, 1)
    finish()
    await reading
    t.equal(known(), version)
  }
})

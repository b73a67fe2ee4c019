import fc from 'fast-check'
import t from 'tap'
import { PlayQueue } from '../../../../packages/web/src/play-queue.ts'
import { Resampler } from '../../../../packages/web/src/resampler.ts'

const RATE_HZ = 48_000
const BLOCK = 128
const ms = (count: number) => (count * RATE_HZ) / 1000

function pullMs(queue: PlayQueue, count: number): Float32Array {
  const blocks = Array.from({ length: Math.ceil(ms(count) / BLOCK) }, () => {
    const block = new Float32Array(BLOCK)
    queue.pull(block)
    return block
  })
  return Float32Array.from(blocks.flatMap((block) => [...block]))
}
const loud = (samples: Float32Array) => samples.filter((sample) => sample !== 0).length

t.test('the first sound waits for 60 ms of it, and all of it is played', async (t) => {
  const queue = new PlayQueue(RATE_HZ, () => {})
  queue.add(new Float32Array(ms(20)).fill(1))
  t.equal(loud(pullMs(queue, 20)), 0)
  queue.add(new Float32Array(ms(20)).fill(1))
  queue.add(new Float32Array(ms(20)).fill(1))
  t.equal(loud(pullMs(queue, 100)), ms(60))
})

t.test('a last word shorter than that is played when its mark came, or nothing follows', async (t) => {
  const reached: number[] = []
  const queue = new PlayQueue(RATE_HZ, (id) => reached.push(id))
  queue.add(new Float32Array(ms(20)).fill(1))
  queue.mark(7)
  t.same(reached, [])
  t.equal(loud(pullMs(queue, 40)), ms(20))
  t.same(reached, [7])
  queue.add(new Float32Array(ms(20)).fill(1))
  t.equal(loud(pullMs(queue, 300)), ms(20), 'without a mark, too')
  queue.mark(8)
  t.same(reached, [7, 8], 'a mark behind nothing is reached')
})

t.test('after running dry in the middle it waits for more', async (t) => {
  const queue = new PlayQueue(RATE_HZ, () => {})
  queue.add(new Float32Array(ms(60)).fill(1))
  pullMs(queue, 80)
  queue.add(new Float32Array(ms(80)).fill(1))
  t.equal(loud(pullMs(queue, 20)), 0)
  queue.add(new Float32Array(ms(20)).fill(1))
  t.ok(loud(pullMs(queue, 20)) > 0)
})

t.test('what is cleared is not played, nor are its marks reached', async (t) => {
  const reached: number[] = []
  const queue = new PlayQueue(RATE_HZ, (id) => reached.push(id))
  queue.add(new Float32Array(ms(100)).fill(1))
  queue.mark(1)
  queue.clear()
  t.equal(loud(pullMs(queue, 100)), 0)
  t.same(reached, [])
})

t.test('whatever comes is played in order and once, and each mark behind it', async () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.integer({ min: 1, max: 3_000 }), fc.constant('mark' as const)), { maxLength: 30 }),
      (items) => {
        const heard: (number | string)[] = []
        const queue = new PlayQueue(RATE_HZ, (id) => heard.push(`mark ${id}`))
        let next = 1
        const expected: (number | string)[] = []
        for (const item of items) {
          if (item === 'mark') {
            expected.push(`mark ${next}`)
            queue.mark(next)
          } else {
            expected.push(next)
            queue.add(new Float32Array(item).fill(next))
          }
          next++
          const block = new Float32Array(BLOCK)
          queue.pull(block)
          for (const sample of block) if (sample !== 0 && !heard.includes(sample)) heard.push(sample)
        }
        for (const sample of pullMs(queue, 2_500)) if (sample !== 0 && !heard.includes(sample)) heard.push(sample)
        const sounds = (list: (number | string)[]) => list.filter((one) => typeof one === 'number')
        const marks = (list: (number | string)[]) => list.filter((one) => typeof one === 'string')
        return String(sounds(heard)) === String(sounds(expected)) && String(marks(heard)) === String(marks(expected))
      },
    ),
  )
})

t.test('a tone keeps its pitch and loudness at another rate, however it is cut', async (t) => {
  for (const [from, to] of [
    [48_000, 24_000],
    [44_100, 24_000],
    [24_000, 48_000],
    [24_000, 44_100],
    [48_000, 48_000],
  ] as const) {
    const resampler = new Resampler(from, to)
    const out: number[] = []
    for (let at = 0; at < from; at += BLOCK) {
      const block = Float32Array.from(
        { length: BLOCK },
        (_, i) => 0.5 * Math.sin((2 * Math.PI * 1000 * (at + i)) / from),
      )
      out.push(...resampler.push(block))
    }
    t.ok(Math.abs(out.length - to) < to / 100, `${from} → ${to}: ${out.length} samples`)
    const steady = out.slice(to / 10, -to / 10)
    let crossings = 0
    for (let i = 1; i < steady.length; i++) if (steady[i - 1]! < 0 && steady[i]! >= 0) crossings++
    t.ok(Math.abs(crossings / (steady.length / to) - 1000) < 3, `${crossings} periods`)
    const rms = Math.sqrt(steady.reduce((sum, x) => sum + x * x, 0) / steady.length)
    t.ok(Math.abs(rms - 0.5 / Math.SQRT2) < 0.01, `loudness ${rms}`)
  }
})

import fc from 'fast-check'
import { test } from 'tap'
import { bytesOf, samplesOf } from '../../../../../runtime/media/frame.ts'
import { JitterBuffer, type PacketReader } from '../../../../../runtime/media/line/jitter.ts'

const FRAME = 160
/** Silence takes the place of what was lost. */
const PCM: PacketReader = {
  sampleRateHz: 8_000,
  samplesIn: (packet) => packet.length / 2,
  read: samplesOf,
  conceal: (samples) => [new Int16Array(samples)],
}
const make = () => new JitterBuffer(PCM, { maxWaitMs: 60, maxFillMs: 1000 })
const packet = (index: number) => bytesOf(new Int16Array(FRAME).fill(index + 1))
const firsts = (runs: Int16Array[]) => runs.map((run) => run[0])

test('packets in order pass at once', (t) => {
  const buffer = make()
  for (let i = 0; i < 10; i++) t.strictSame(firsts(buffer.push(packet(i), i * FRAME, i * 20)), [i + 1])
  t.end()
})

test('swapped packets come out in order', (t) => {
  const buffer = make()
  buffer.push(packet(0), 0, 0)
  t.strictSame(buffer.push(packet(2), 2 * FRAME, 20), [])
  t.strictSame(firsts(buffer.push(packet(1), FRAME, 25)), [2, 3])
  t.end()
})

test('a lost packet is waited for, then replaced by silence', (t) => {
  const buffer = make()
  buffer.push(packet(0), 0, 0)
  t.strictSame(buffer.push(packet(2), 2 * FRAME, 40), [])
  t.strictSame(buffer.tick(80), [])
  const runs = buffer.tick(100)
  t.strictSame(firsts(runs), [0, 3])
  t.equal(runs[0]!.length, FRAME)
  t.equal(buffer.lost, FRAME)
  t.strictSame(buffer.push(packet(1), FRAME, 120), [], 'too late now')
  t.equal(buffer.lateSamples, FRAME)
  t.end()
})

test('a jump of the timestamps starts anew', (t) => {
  const buffer = make()
  buffer.push(packet(0), 0, 0)
  t.strictSame(firsts(buffer.push(packet(7), 1_000_000, 20)), [8])
  t.strictSame(firsts(buffer.push(packet(8), 1_000_000 + FRAME, 40)), [9])
  t.strictSame(firsts(buffer.push(packet(1), 500, 60)), [2])
  t.end()
})

test('timestamps wrap at 32 bits', (t) => {
  const buffer = make()
  const start = 2 ** 32 - FRAME
  t.strictSame(firsts(buffer.push(packet(0), start, 0)), [1])
  t.strictSame(firsts(buffer.push(packet(1), 0, 20)), [2])
  t.end()
})

test('a packet that waits is kept, whatever its bytes are used for next', (t) => {
  const buffer = make()
  buffer.push(packet(0), 0, 0)
  const early = packet(2)
  buffer.push(early, 2 * FRAME, 20)
  early.fill(0)
  t.strictSame(firsts(buffer.push(packet(1), FRAME, 25)), [2, 3])
  t.end()
})

test('of a packet that overlaps what was heard, the new part is heard', (t) => {
  const buffer = make()
  buffer.push(packet(0), 0, 0)
  buffer.push(packet(3), 1.5 * FRAME, 10)
  const runs = buffer.push(packet(1), FRAME, 20)
  t.strictSame(firsts(runs), [2, 4])
  t.equal(runs[1]!.length, FRAME / 2)
  t.end()
})

test('whatever is shuffled, repeated or lost, time never runs back and nothing is invented', (t) => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 30 }), { maxLength: 120 }), (order) => {
      const buffer = make()
      const out: number[] = []
      order.forEach((index, i) => {
        for (const run of [...buffer.push(packet(index), index * FRAME, i * 20), ...buffer.tick(i * 20)]) {
          if (run[0] !== 0) out.push(run[0]!)
        }
      })
      for (const run of buffer.tick(1e9)) if (run[0] !== 0) out.push(run[0]!)
      return out.every((value, i) => order.includes(value - 1) && (i === 0 || value > out[i - 1]!))
    }),
  )
  t.end()
})

import t from 'tap'
import { Limiter } from '../../../runtime/media/limiter.ts'

const tone = (amplitude: number, frames = 10): Int16Array[] =>
  Array.from({ length: frames }, (_, frame) =>
    Int16Array.from({ length: 160 }, (_, n) => Math.round(amplitude * Math.sin((160 * frame + n) / 3))),
  )

t.test('what is not too loud passes as it is', async (t) => {
  const limiter = new Limiter(8_000)
  for (const frame of tone(23_000)) t.equal(limiter.push(frame), frame)
})

t.test('what is too loud is turned down, not cut off: nothing is clipped, and its shape stays', async (t) => {
  const limiter = new Limiter(8_000)
  const heard = tone(32_767).flatMap((frame) => [...limiter.push(frame)])
  t.ok(heard.every((sample) => Math.abs(sample) <= 23_197))
  const flat = heard.slice(1).filter((sample, i) => sample === heard[i] && Math.abs(sample) > 20_000).length
  t.ok(flat < 5, `${flat} samples stand still at the top`)
})

t.test('a voice that was too loud is as it was within a fifth of a second', async (t) => {
  const limiter = new Limiter(8_000)
  for (const frame of tone(32_767)) limiter.push(frame)
  const after = tone(10_000, 20)
  const passed = after.map((frame) => limiter.push(frame))
  t.ok(passed.slice(2).every((frame, i) => frame === after[i + 2]))
})

import t from 'tap'
import { decodeG711 } from '../../../../../runtime/media/codecs/g711.ts'
import { Limiter } from '../../../../../runtime/media/dsp/limiter.ts'
import { bytesOf } from '../../../../../runtime/media/frame.ts'
import { LineAudio } from '../../../../../runtime/media/line/line-audio.ts'

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

t.test('a wide session that meets a line with G.711 is limited on its way there, and on no other', async (t) => {
  const line = new LineAudio({ encoding: 'pcm_s16le', sampleRateHz: 8_000 }, 'PCMU')
  const loudest = () => {
    const heard = tone(32_000).flatMap((frame) => [...decodeG711('pcmu', line.toLine(bytesOf(frame)))])
    return Math.max(...heard.map(Math.abs))
  }
  t.ok(loudest() < 24_000)
  line.use('G722')
  t.ok(line.toLine(bytesOf(tone(32_000, 1)[0]!)).length > 0)
})

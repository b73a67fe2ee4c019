import t from 'tap'
import { samplesOf } from '../../../runtime/media/frame.ts'
import { decodeG711 } from '../../../runtime/media/g711.ts'
import { holdMusic } from '../../../runtime/media/hold-music.ts'

t.test('music sounds all the time, quieter than speech, without a seam', async (t) => {
  const format = { encoding: 'pcm_s16le', sampleRateHz: 16_000 } as const
  const frames = Array.from({ length: 1_000 }, (_, i) => samplesOf(holdMusic(format, i)))
  t.ok(frames.every(({ length }) => length === 320))
  const levels = frames.map((frame) => Math.sqrt(frame.reduce((sum, sample) => sum + sample ** 2, 0) / frame.length))
  t.ok(Math.min(...levels) > 100, `never silent: ${Math.min(...levels)}`)
  t.ok(Math.max(...levels) < 4_000, `never loud: ${Math.max(...levels)}`)
  const all = frames.flatMap((frame) => [...frame])
  const steps = all.slice(1).map((sample, i) => Math.abs(sample - all[i]!))
  const loop = (all.length / 1_000) * 480
  t.ok(steps[loop - 1]! < 1_000, `no click where it begins again: ${steps[loop - 1]}`)
})

t.test('it is made in every format, once', async (t) => {
  const law = { encoding: 'pcmu', sampleRateHz: 8_000 } as const
  t.equal(holdMusic(law, 3), holdMusic(law, 483))
  t.ok(decodeG711('pcmu', holdMusic(law, 3)).some((sample) => Math.abs(sample) > 300))
})

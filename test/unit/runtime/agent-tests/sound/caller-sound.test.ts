import t from 'tap'
import { CallerSound } from '../../../../../runtime/agent-tests/sound/caller-sound.ts'

const RATE_HZ = 8_000
const FRAME = 160
const tone = (length: number, peak: number) => Int16Array.from({ length }, (_, i) => peak * Math.sin(i))
const rms = (samples: readonly number[]) => Math.sqrt(samples.reduce((sum, one) => sum + one * one, 0) / samples.length)

function seeded(): () => number {
  let state = 1
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}

t.test('a quiet caller on a good line sends silence, and a voice as it is', (t) => {
  const sound = new CallerSound(RATE_HZ, {}, seeded())
  t.ok(sound.next(FRAME).every((sample) => sample === 0))
  const voice = tone(FRAME + 10, 8_000)
  sound.say(voice)
  t.same(sound.next(FRAME), voice.subarray(0, FRAME))
  t.ok(sound.speaks)
  t.same(sound.next(FRAME).subarray(0, 11), Int16Array.from([...voice.subarray(FRAME), 0]))
  t.notOk(sound.speaks)
  t.end()
})

t.test('noise is as loud as it says, against the voice', (t) => {
  const sound = new CallerSound(RATE_HZ, { noise_db: -20 }, seeded())
  sound.say(tone(FRAME, 10_000))
  sound.next(FRAME)
  const noise = rms([...sound.next(RATE_HZ)])
  const wanted = (10_000 / Math.SQRT2) * 0.1
  t.ok(Math.abs(noise / wanted - 1) < 0.05, `${noise} where ${wanted} is wanted`)
  t.end()
})

t.test('what the caller hears comes back quieter and later', (t) => {
  const sound = new CallerSound(RATE_HZ, { echo_db: -20 }, seeded())
  sound.hear(tone(FRAME, 10_000), 0)
  const back = Array.from({ length: 4 }, () => rms([...sound.next(FRAME)]))
  t.same(
    back.map((one) => Math.round(one / 100)),
    [0, 0, 0, 7],
    'after 60 ms, at a tenth',
  )
  t.equal(rms([...sound.next(FRAME)]), 0)
  t.end()
})

t.test('a microphone that is behind its time picks up later what is heard now', (t) => {
  const sound = new CallerSound(RATE_HZ, { echo_db: -20 }, seeded())
  sound.next(FRAME)
  // 80 ms have passed: three frames of the microphone are to be made up for.
  sound.hear(tone(FRAME, 10_000), 80)
  sound.hear(tone(FRAME, 10_000), 85)
  const back = Array.from({ length: 9 }, () => Math.round(rms([...sound.next(FRAME)]) / 100))
  t.same(back, [0, 0, 0, 0, 0, 0, 7, 7, 0], '60 ms after it was heard, without a gap')
  t.end()
})

t.test('echo of an agent that never stops is bounded', (t) => {
  const sound = new CallerSound(RATE_HZ, { echo_db: -20 }, seeded())
  for (let i = 0; i < 1_000; i++) sound.hear(tone(FRAME, 10_000), 0)
  let frames = 0
  while (rms([...sound.next(FRAME)]) > 0) frames++
  t.ok(frames <= 100, `${frames} frames of 20 ms`)
  t.end()
})

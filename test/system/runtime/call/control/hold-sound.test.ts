import { mock } from 'node:test'
import t from 'tap'
import { HoldSound } from '../../../../../runtime/call/control/hold-sound.ts'
import type { Leg } from '../../../../../runtime/call/types/leg.ts'

t.test('a line whose worker is gone sounds within four seconds, again and again, until it stops', async (t) => {
  mock.timers.enable({ apis: ['setInterval'] })
  t.teardown(() => mock.timers.reset())
  let frames = 0
  const leg = {
    format: { encoding: 'pcmu', sampleRateHz: 8_000 },
    sendAudio: () => void frames++,
  } as unknown as Leg
  const sound = new HoldSound(leg)
  sound.start()
  mock.timers.tick(2_000)
  t.equal(frames, 0)
  mock.timers.tick(2_000)
  const chime = frames
  t.ok(chime > 10, `${chime} frames`)
  mock.timers.tick(4_000)
  t.ok(frames > chime)
  sound.stop()
  const before = frames
  mock.timers.tick(10_000)
  t.equal(frames, before)
})

import type { SoundQuirk } from '../support/quirk.ts'
import { tone } from '../support/run-sound.ts'

export default {
  kind: 'sound',
  title: 'samples are cut in two',
  report: 'any network',
  reply: { type: 'audio/pcm', pieces: [tone(24_000).subarray(0, 4_001), tone(24_000).subarray(4_001)] },
  check(t, { samples, errors }) {
    t.same(errors, [])
    t.ok(Math.abs(samples.length - 24_000) < 100, `${samples.length}`)
    t.ok(
      samples.every((sample) => Math.abs(sample) < 8_100),
      'and no noise',
    )
  },
} satisfies SoundQuirk

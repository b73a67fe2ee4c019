import type { SoundQuirk } from '../support/quirk.ts'
import { wav } from '../support/run-sound.ts'

export default {
  kind: 'sound',
  title: 'of a WAV in stereo one side is heard',
  report: 'tried',
  reply: { type: 'audio/wav', pieces: [wav(24_000, 2)] },
  check(t, { samples, errors }) {
    t.same(errors, [])
    t.ok(Math.abs(samples.length - 24_000) < 100, `${samples.length}`)
  },
} satisfies SoundQuirk

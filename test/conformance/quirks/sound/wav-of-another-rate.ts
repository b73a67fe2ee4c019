import type { SoundQuirk } from '../support/quirk.ts'
import { wav } from '../support/run-sound.ts'

export default {
  kind: 'sound',
  title: 'a WAV of another rate is played at its own',
  report: 'tetherto/qvac#2009; tried',
  reply: { type: 'audio/wav', pieces: [wav(16_000)] },
  check(t, { samples, errors }) {
    t.same(errors, [])
    t.ok(Math.abs(samples.length - 24_000) < 400, `a second at 24 kHz: ${samples.length}`)
  },
} satisfies SoundQuirk

import type { SoundQuirk } from '../support/quirk.ts'
import { tone } from '../support/run-sound.ts'

export default {
  kind: 'sound',
  title: 'the rate stands in the content type',
  report: 'servers of kokoro and piper',
  reply: { type: 'audio/pcm; rate=16000', pieces: [tone(16_000)] },
  check(t, { samples, errors }) {
    t.same(errors, [])
    t.ok(Math.abs(samples.length - 24_000) < 400, `${samples.length}`)
  },
} satisfies SoundQuirk

import type { SoundQuirk } from '../support/quirk.ts'
import { wav } from '../support/run-sound.ts'

export default {
  kind: 'sound',
  title: 'a WAV whose head comes byte by byte is read',
  report: 'tried',
  reply: {
    type: 'audio/wav',
    pieces: [...Array.from(wav(24_000).subarray(0, 60), (byte) => Buffer.from([byte])), wav(24_000).subarray(60)],
  },
  check(t, { samples, errors }) {
    t.same(errors, [])
    t.ok(Math.abs(samples.length - 24_000) < 100, `${samples.length}`)
  },
} satisfies SoundQuirk

import type { SoundQuirk } from '../support/quirk.ts'
import { wav } from '../support/run-sound.ts'

export default {
  kind: 'sound',
  title: 'a server sends each sentence as a WAV of its own: the heads between them are no sound',
  report: 'remsky/Kokoro-FastAPI#94, travisvn/chatterbox-tts-api#14',
  reply: { type: 'audio/wav', pieces: [wav(24_000), wav(24_000).subarray(0, 21), wav(24_000).subarray(21)] },
  check(t, { samples, errors }) {
    t.same(errors, [])
    t.ok(Math.abs(samples.length - 48_000) < 200, `${samples.length}`)
    const jumps = samples.filter((sample, i) => i > 0 && Math.abs(sample - (samples[i - 1] ?? 0)) > 4_000)
    t.equal(jumps.length, 0, 'no click between them')
  },
} satisfies SoundQuirk

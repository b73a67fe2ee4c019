import type { SoundQuirk } from '../support/quirk.ts'
import { wav } from '../support/run-sound.ts'

const file = wav(24_000)
file.writeUInt32LE(12_000, 40)

export default {
  kind: 'sound',
  title: 'a WAV that says it is shorter than it is, as one whose head is of its first piece alone, is heard to its end',
  report: 'remsky/Kokoro-FastAPI#94',
  reply: { type: 'audio/wav', pieces: [file] },
  check(t, { samples, errors }) {
    t.same(errors, [])
    t.ok(Math.abs(samples.length - 24_000) < 100, `${samples.length}`)
  },
} satisfies SoundQuirk

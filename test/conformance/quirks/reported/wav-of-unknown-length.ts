import type { SoundQuirk } from '../support/quirk.ts'
import { wav } from '../support/run-sound.ts'

const file = wav(24_000)
file.writeUInt32LE(0xffffffff, 40)

export default {
  kind: 'sound',
  title: 'a WAV whose length its server did not know is heard to its end',
  report: 'speaches-ai/speaches#493, pollinations/pollinations#8929, kyutai-labs/pocket-tts#229',
  reply: { type: 'audio/wav', pieces: [file] },
  check(t, { samples, errors }) {
    t.same(errors, [])
    t.ok(Math.abs(samples.length - 24_000) < 100, `${samples.length}`)
  },
} satisfies SoundQuirk

import type { SoundQuirk } from '../support/quirk.ts'
import { wav } from '../support/run-sound.ts'

const LIST = Buffer.from('LIST\x1a\x00\x00\x00INFOISFT\x0e\x00\x00\x00CrispASR 1.0.0')
const SIGNED = Buffer.concat([Buffer.from('C2PA\x08\x07\x00\x00'), Buffer.alloc(1_800, 0x7f)])

export default {
  kind: 'sound',
  title: 'what stands behind the samples of a WAV is no sound',
  report: 'roryeckel/wyoming_openai#73',
  reply: { type: 'audio/wav', pieces: [wav(24_000), LIST.subarray(0, 3), LIST.subarray(3), SIGNED] },
  check(t, { samples, errors }) {
    t.same(errors, [])
    t.ok(Math.abs(samples.length - 24_000) < 100, `${samples.length}`)
    const loudest = samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0)
    t.ok(loudest < 9_000, 'nothing is louder than the voice')
  },
} satisfies SoundQuirk

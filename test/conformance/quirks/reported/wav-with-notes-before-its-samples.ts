import type { SoundQuirk } from '../support/quirk.ts'
import { wav } from '../support/run-sound.ts'

const file = wav(24_000)
const NOTE = Buffer.from('LIST\x1a\x00\x00\x00INFOISFT\x0d\x00\x00\x00Lavf58.76.10\0\0')

export default {
  kind: 'sound',
  title: 'the head of a WAV may be longer than 44 bytes, with a part of an odd length',
  report: 'pipecat-ai/pipecat#2008',
  reply: {
    type: 'audio/wav',
    pieces: [file.subarray(0, 36), Buffer.from('note\x03\x00\x00\x00abc\0'), NOTE, file.subarray(36)],
  },
  check(t, { samples, errors }) {
    t.same(errors, [])
    t.ok(Math.abs(samples.length - 24_000) < 100, `${samples.length}`)
    t.ok(Math.abs(samples[0] ?? 1) < 10, 'the first sample is the first of the voice')
  },
} satisfies SoundQuirk

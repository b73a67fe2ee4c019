import type { SoundQuirk } from '../support/quirk.ts'

export default {
  kind: 'sound',
  title: 'nothing comes',
  report: 'tried',
  reply: { type: 'audio/pcm', pieces: [] },
  check(t, { samples, errors }) {
    t.equal(samples.length, 0, 'no noise is heard')
    t.match(errors, [/no sound/])
  },
} satisfies SoundQuirk

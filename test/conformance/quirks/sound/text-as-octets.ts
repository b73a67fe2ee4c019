import type { SoundQuirk } from '../support/quirk.ts'

export default {
  kind: 'sound',
  title: 'an error comes as octets with status 200',
  report: 'tried',
  reply: { type: 'application/octet-stream', pieces: ['{"error": "no such voice"}'] },
  check(t, { samples, errors }) {
    t.equal(samples.length, 0, 'no noise is heard')
    t.match(errors, [/text instead of sound/])
  },
} satisfies SoundQuirk

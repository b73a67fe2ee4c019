import type { SoundQuirk } from '../support/quirk.ts'

export default {
  kind: 'sound',
  title: 'MP3 with tags comes as octets',
  report: 'tried',
  reply: {
    type: 'application/octet-stream',
    pieces: [Buffer.concat([Buffer.from('ID3\u0004'), Buffer.alloc(4_000, 0x55)])],
  },
  check(t, { samples, errors }) {
    t.equal(samples.length, 0, 'no noise is heard')
    t.match(errors, [/MP3/])
  },
} satisfies SoundQuirk

import type { SoundQuirk } from '../support/quirk.ts'

export default {
  kind: 'sound',
  title: 'Ogg comes where samples were asked for',
  report: 'tried',
  reply: { type: 'audio/ogg', pieces: [Buffer.concat([Buffer.from('OggS'), Buffer.alloc(4_000, 0x55)])] },
  check(t, { samples, errors }) {
    t.equal(samples.length, 0, 'no noise is heard')
    t.match(errors, [/Ogg/])
  },
} satisfies SoundQuirk

import type { SoundQuirk } from '../support/quirk.ts'

export default {
  kind: 'sound',
  title: 'MP3 comes where samples were asked for',
  report: 'tried; adrianlyjak/obsidian-aloud-tts#113',
  reply: { type: 'audio/mpeg', pieces: [Buffer.from([0xff, 0xfb, 0x90, 0x64, ...new Array(4_000).fill(0x55)])] },
  check(t, { samples, errors }) {
    t.equal(samples.length, 0, 'no noise is heard')
    t.match(errors, [/MP3/])
  },
} satisfies SoundQuirk

import type { SoundQuirk } from '../support/quirk.ts'

export default {
  kind: 'sound',
  title: 'JSON comes with status 200',
  report: 'tenstorrent/tt-inference-server#1776',
  reply: { type: 'application/json', pieces: ['{"audio":"UklGRg=="}'] },
  check(t, { samples, errors }) {
    t.equal(samples.length, 0, 'no noise is heard')
    t.match(errors, [/application.json/])
  },
} satisfies SoundQuirk

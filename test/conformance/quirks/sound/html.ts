import type { SoundQuirk } from '../support/quirk.ts'

export default {
  kind: 'sound',
  title: 'a page comes with status 200',
  report: 'proxies in front of voice servers',
  reply: { type: 'text/html', pieces: ['<!doctype html><title>Sign in</title>'] },
  check(t, { samples, errors }) {
    t.equal(samples.length, 0, 'no noise is heard')
    t.match(errors, [/text.html/])
  },
} satisfies SoundQuirk

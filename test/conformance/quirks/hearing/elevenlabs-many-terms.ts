import { hear } from '../support/hear.ts'
import type { ProtocolQuirk } from '../support/quirk.ts'

export default {
  kind: 'protocol',
  title: 'more and longer key terms than Scribe takes don’t make it deaf',
  report: 'vendor SDK: 50 of 20 characters',
  async run(t) {
    const keyterms = Array.from({ length: 80 }, (_, i) => `A rather long familyname ${i}`.slice(0, 15 + (i % 15)))
    t.match(await hear(t, 'elevenlabs', { keyterms }), { errors: [], text: /Saturday/ })
  },
} satisfies ProtocolQuirk

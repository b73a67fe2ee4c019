import { hear } from '../support/hear.ts'
import type { ProtocolQuirk } from '../support/quirk.ts'

export default {
  kind: 'protocol',
  title: 'more key terms than ink-2 takes don’t make it refuse the call',
  report: 'vendor SDK: 100 terms of 1,200 characters in all',
  async run(t) {
    const many = Array.from({ length: 150 }, (_, i) => `Name${i}`)
    t.match(await hear(t, 'cartesia', { keyterms: many }), { errors: [], text: /Saturday/ })
    const long = Array.from({ length: 40 }, (_, i) => `Given Name Of Many A Familyname ${i}`)
    t.match(await hear(t, 'cartesia', { keyterms: long }), { errors: [], text: /Saturday/ })
  },
} satisfies ProtocolQuirk

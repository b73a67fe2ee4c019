import { hear } from '../support/hear.ts'
import type { ProtocolQuirk } from '../support/quirk.ts'

export default {
  kind: 'protocol',
  title: 'more key terms than Deepgram takes don’t make it refuse the call',
  report: 'deepgram-docs: keyterm limit of 500 tokens',
  async run(t) {
    const keyterms = Array.from({ length: 200 }, (_, i) => `Given Familyname${i}`)
    t.match(await hear(t, 'deepgram', { keyterms }), { errors: [], text: /Saturday/ })
  },
} satisfies ProtocolQuirk

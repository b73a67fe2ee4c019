import { hear } from '../support/hear.ts'
import type { ProtocolQuirk } from '../support/quirk.ts'

export default {
  kind: 'protocol',
  title: 'an eager threshold above the end’s own is taken',
  report: 'livekit/agents: eager_eot_threshold must not be greater',
  async run(t) {
    const options = { eagerEotThreshold: 0.85 }
    t.match(await hear(t, 'deepgram', { model: 'flux-general-en' }, options), { errors: [], text: /Saturday/ })
  },
} satisfies ProtocolQuirk

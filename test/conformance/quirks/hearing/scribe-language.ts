import { hear } from '../support/hear.ts'
import type { ProtocolQuirk } from '../support/quirk.ts'

export default {
  kind: 'protocol',
  title: 'the language of what was said is asked for where an agent follows the caller',
  report: 'vendor SDK: includeLanguageDetection',
  async run(t) {
    t.match(await hear(t, 'elevenlabs', { language: 'multi' }), { errors: [], language: 'en' })
  },
} satisfies ProtocolQuirk

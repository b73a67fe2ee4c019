import { hear } from '../support/hear.ts'
import type { ProtocolQuirk } from '../support/quirk.ts'

export default {
  kind: 'protocol',
  title: 'the Universal 3 models are told which language to expect, the older ones are not',
  report: 'vendor SDK: languageCodes',
  async run(t) {
    for (const model of ['universal-3-6-pro', 'universal-streaming-multilingual']) {
      t.match(await hear(t, 'assemblyai', { model, language: 'de' }), { errors: [], text: /Saturday/i }, model)
    }
  },
} satisfies ProtocolQuirk

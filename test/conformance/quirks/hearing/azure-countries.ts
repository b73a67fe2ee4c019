import { hear } from '../support/hear.ts'
import type { ProtocolQuirk } from '../support/quirk.ts'

export default {
  kind: 'protocol',
  title: 'Azure is asked with the country a language is spoken in',
  report: 'tried: da-DA, uk-UK',
  async run(t) {
    for (const language of ['da', 'uk', 'cs', 'el', 'he', 'hi', 'vi', 'ar']) {
      t.match(await hear(t, 'azure', { language }), { errors: [], text: /Saturday/ }, language)
    }
  },
} satisfies ProtocolQuirk

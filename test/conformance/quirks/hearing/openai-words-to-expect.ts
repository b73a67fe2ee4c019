import { hear } from '../support/hear.ts'
import type { ProtocolQuirk } from '../support/quirk.ts'

export default {
  kind: 'protocol',
  title: 'words to expect go to gpt-transcribe as a list',
  report: 'vendor SDK: keywords, languages',
  async run(t) {
    const options = { sttApi: 'realtime' }
    const chosen = { model: 'gpt-transcribe', keyterms: ['Patchbay'], language: 'en' }
    t.match(await hear(t, 'openai', chosen, options), { errors: [], text: /Saturday/ })
  },
} satisfies ProtocolQuirk

import plugin from '../../../plugins/assemblyai/mod.ts'
import { hear } from '../use-speech.ts'
import { socketRequests, type Vendor, type WireRequest } from './vendor.ts'

const SDK = "import('./package/dist/types/streaming/index.js')"
/** The SDK writes lists as JSON into its address: service.ts, connectionUrl. */
const LISTS = new Set(['keytermsPrompt', 'languageCodes'])

export const assemblyai: Vendor = {
  types: {
    Streaming: `Query<Omit<${SDK}.StreamingTranscriberParams, 'keytermsPrompt' | 'languageCodes'>> & Pick<${SDK}.StreamingTranscriberParams, 'keytermsPrompt' | 'languageCodes'>`,
    StreamingMessage: `${SDK}.StreamingOperationMessage`,
  },
  paths: { Streaming: ['dist/node.mjs', '/v3/ws'] },
  async requests({ stt }, recorder) {
    const host = recorder.host({ ASSEMBLYAI_BASE_URL: recorder.url })
    const requests: WireRequest[] = []
    for (const model of stt?.models ?? []) {
      for (const language of ['en', 'multi']) {
        const settings = language === 'en' ? {} : { endOfTurnConfidence: 0.5, maxTurnSilenceMs: 900 }
        const options = { model, language, keyterms: ['Ada', 'Lovelace'], settings }
        const socket = await recorder.recordUntil(/Terminate/, async () => hear(await plugin.stt?.(host, options)))
        requests.push(...socketRequests('Streaming', `${model} ${language}`, socket))
      }
    }
    return requests.map((request) =>
      request.type === 'Streaming' ? { ...request, value: argumentsOf(request.value) } : request,
    )
  },
}

/** By the names of the SDK's arguments. */
function argumentsOf(query: object): object {
  return Object.fromEntries(
    Object.entries(query).map(([field, value]) => {
      const name = field.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
      return [name, LISTS.has(name) ? JSON.parse(value) : value]
    }),
  )
}

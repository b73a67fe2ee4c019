import plugin from '../../../plugins/deepgram/mod.ts'
import { hear, speak } from '../use-speech.ts'
import { socketRequests, type Vendor, type WireRequest } from './vendor.ts'

const API = './package/dist/cjs/api'
/** Arguments of the SDK's that stay on this side of the socket. */
const LOCAL =
  "'Authorization' | 'protocols' | 'queryParams' | 'headers' | 'debug' | 'reconnectAttempts' | 'connectionTimeoutInSeconds' | 'abortSignal' | 'shouldReconnect'"
const argumentsOf = (client: string) =>
  `Omit<import('${API}/resources/${client}/client/Client.js').V${client.at(-1)}Client.ConnectArgs, ${LOCAL}>`
const VOICES = `import('${API}/types/SpeakV1Model.js').SpeakV1Model`
const EVERYTHING = {
  ...{ keyterms: ['Patchbay'], smartFormat: false, endpointingMs: 300, mipOptOut: true, ttsSpeed: 1.1 },
  ...{ eagerEotThreshold: 0.4, eotThreshold: 0.8, eotTimeoutMs: 3_000 },
}

export const deepgram: Vendor = {
  types: {
    // The service takes no_delay, too, which its SDK names nowhere: developers.deepgram.com/changelog/2025/4/2.
    ListenV1: `Query<${argumentsOf('listen/resources/v1')}> & { no_delay?: 'true' }`,
    ListenV1Message: `import('${API}/index.js').listen.ListenV1CloseStream`,
    ListenV2: `Query<${argumentsOf('listen/resources/v2')}>`,
    ListenV2Message: `import('${API}/index.js').listen.ListenV2CloseStream`,
    // Of the voices the SDK names, not of any name.
    Speak: `Query<Omit<${argumentsOf('speak/resources/v1')}, 'model'>> & { model: (typeof ${VOICES})[keyof typeof ${VOICES}] }`,
    SpeakMessage: `Wire<import('${API}/index.js').speak.SpeakV1Text | import('${API}/index.js').speak.SpeakV1Flush>`,
  },
  paths: {
    ListenV1: ['dist/cjs/api/resources/listen/resources/v1/client/Client.js', '/v1/listen'],
    ListenV2: ['dist/cjs/api/resources/listen/resources/v2/client/Client.js', '/v2/listen'],
    Speak: ['dist/cjs/api/resources/speak/resources/v1/client/Client.js', '/v1/speak'],
  },
  async requests({ stt, tts }, recorder) {
    const host = recorder.host({ DEEPGRAM_BASE_URL: recorder.url })
    const requests: WireRequest[] = []
    for (const model of stt?.models ?? []) {
      for (const settings of [{}, EVERYTHING]) {
        const options = { model, language: 'en', keyterms: ['Ada', 'Lovelace'], settings }
        const socket = await recorder.recordUntil(/CloseStream/, async () => hear(await plugin.stt?.(host, options)))
        const type = model.startsWith('flux') ? 'ListenV2' : 'ListenV1'
        requests.push(...socketRequests(type, model, socket))
      }
    }
    for (const voice of tts?.voices ?? []) {
      const options = { voice, settings: voice === tts?.defaultVoice ? EVERYTHING : {} }
      const socket = await recorder.recordUntil(/Flush/, async () => speak(await plugin.tts?.(host, options)))
      requests.push(...socketRequests('Speak', voice, socket))
    }
    return requests
  },
}

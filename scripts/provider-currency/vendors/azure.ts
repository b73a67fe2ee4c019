import { readMessage } from '../../../plugins/azure/messages.ts'
import plugin from '../../../plugins/azure/mod.ts'
import { hear } from '../use-speech.ts'
import type { Vendor, WireRequest } from './vendor.ts'

const SDK = './package/distrib/lib/src/common.speech'

export const azure: Vendor = {
  types: {
    Context: `Wire<Named<import('${SDK}/ServiceMessages/SpeechContext.js').SpeechContext>>`,
  },
  paths: {
    Listen: [
      'distrib/lib/src/common.speech/SpeechConnectionFactory.js',
      '/speech/recognition/conversation/cognitiveservices/v1',
    ],
    ListenUniversal: [
      'distrib/lib/src/common.speech/ConversationTranscriberConnectionFactory.js',
      '/stt/speech/universal/v2',
    ],
  },
  unjudged: [
    'speech.config: the SDK has classes for what it says of itself, and no type of what the service wants',
    'voices: the SDK asks for them over a socket, and has nothing of the REST API that is asked here',
  ],
  async requests({ stt }, recorder) {
    const host = recorder.host({ AZURE_SPEECH_BASE_URL: recorder.url })
    const requests: WireRequest[] = []
    for (const model of stt?.models ?? []) {
      for (const sttEndpoint of [1, 2]) {
        const options = { model, language: 'en', keyterms: ['Ada', 'Lovelace'], settings: { sttEndpoint } }
        const listen = async () => hear(await plugin.stt?.(host, options))
        const socket = await recorder.recordUntil(/speech\.context/i, listen)
        const about = `${model}, endpoint ${sttEndpoint}`
        const type = sttEndpoint === 1 ? 'Listen' : 'ListenUniversal'
        requests.push({ type, about, value: {}, path: socket.path })
        for (const message of socket.messages) {
          const { path, body } = readMessage(message)
          if (path === 'speech.context') requests.push({ type: 'Context', about, value: JSON.parse(body) as object })
        }
      }
    }
    return requests
  },
}

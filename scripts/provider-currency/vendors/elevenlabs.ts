import plugin from '../../../plugins/elevenlabs/mod.ts'
import { hear, speak } from '../use-speech.ts'
import { socketRequests, type Vendor, type WireRequest } from './vendor.ts'

const API = './package/api/types'
const SCRIBE = './package/wrapper/realtime/scribe.js'

export const elevenlabs: Vendor = {
  types: {
    Scribe: `Query<Omit<import('${SCRIBE}').AudioOptions, 'sampleRate' | 'url'>>`,
    ScribeMessage: `import('${API}/InputAudioChunkPayload.js').InputAudioChunkPayload`,
    SpeechMessage: `import('${API}/WebsocketTtsClientMessageMulti.js').WebsocketTtsClientMessageMulti`,
    DialogueMessage: `import('${API}/TextToDialogueWebsocketClientMessageMulti.js').TextToDialogueWebsocketClientMessageMulti`,
  },
  paths: { Scribe: ['wrapper/realtime/scribe.js', '/v1/speech-to-text/realtime'] },
  unjudged: ['the addresses of voices: the SDK opens no socket for them, and types their messages alone'],
  async requests({ stt, tts }, recorder) {
    const host = recorder.host({ ELEVENLABS_BASE_URL: recorder.url })
    const requests: WireRequest[] = []
    for (const model of stt?.models ?? []) {
      for (const [language, enableLogging] of [['en', false] as const, ['multi', undefined] as const]) {
        const options = { model, language, keyterms: ['Ada', 'Lovelace'], settings: { enableLogging } }
        const listen = async () => hear(await plugin.stt?.(host, options))
        const socket = await recorder.recordUntil(/"commit":true/, listen)
        requests.push(...socketRequests('Scribe', `${model} ${language}`, socket))
      }
    }
    for (const ttsModel of tts?.models ?? []) {
      for (const settings of [{ ttsModel }, { ttsModel, stability: 0.4, similarityBoost: 0.8, ttsSpeed: 1.1 }]) {
        const say = async () => speak(await plugin.tts?.(host, { language: 'en', settings }))
        const socket = await recorder.recordUntil(/close_context/, say)
        const type = socket.path.includes('text-to-dialogue') ? 'Dialogue' : 'Speech'
        requests.push(...socketRequests(type, ttsModel, socket).slice(1))
      }
    }
    return requests.map((request) => ({ ...request, value: inCamelCase(request.value) as object }))
  },
}

/** The SDK's own names: its serialisation writes each of them in snake case. */
function inCamelCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inCamelCase)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [
      name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()),
      inCamelCase(field),
    ]),
  )
}

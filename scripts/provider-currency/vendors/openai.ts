import { AS_OPENAI, chatBody } from '../../../plugins/openai/chat-body.ts'
import plugin from '../../../plugins/openai/mod.ts'
import { CONVERSATIONS } from '../conversations.ts'
import { converse } from '../converse.ts'
import type { Recorded } from '../recorder.ts'
import { hear, speak, transcribe } from '../use-speech.ts'
import { messageRequests, type Vendor, type WireRequest } from './vendor.ts'

const SDK = "import('./package/index.js').OpenAI"
const VOICE = { ttsInstructions: 'Warmly.', ttsSpeed: 1.2 }
const KEYTERMS = ['Ada', 'Lovelace']

export const openai: Vendor = {
  types: {
    Chat: `${SDK}.ChatCompletionCreateParamsStreaming`,
    Embedding: `${SDK}.EmbeddingCreateParams`,
    Speech: `${SDK}.Audio.SpeechCreateParams`,
    // The file is left out of what is written down.
    Transcription: `Query<Omit<${SDK}.Audio.TranscriptionCreateParamsNonStreaming, 'file'>> & { file: object }`,
    Realtime: `import('./package/resources/realtime/realtime.js').RealtimeClientEvent`,
  },
  paths: {
    Embedding: ['resources/embeddings.js', '/embeddings'],
    Speech: ['resources/audio/speech.js', '/audio/speech'],
    Transcription: ['resources/audio/transcriptions.js', '/audio/transcriptions'],
  },
  async requests({ llm, stt, tts, realtime, embedding }, recorder) {
    const requests: WireRequest[] = []
    const add = (type: string, about: string, { body, path }: Recorded) =>
      requests.push({ type, about, value: body as object, path })
    for (const model of llm?.models ?? []) {
      const choice = { model, isOpenAI: true, reasoningEffort: undefined, maxCompletionTokens: 400 }
      for (const conversation of CONVERSATIONS) {
        requests.push({ type: 'Chat', about: model, value: chatBody(conversation, choice, AS_OPENAI) })
      }
    }
    const host = recorder.host({})
    for (const model of embedding?.models ?? []) {
      for (const settings of [{}, { embeddingDimensions: 256 }]) {
        const vectors = await plugin.embedding?.(host, { model, settings })
        const embed = () => vectors?.embed(['Rooms', ''], new AbortController().signal)
        add('Embedding', model, await recorder.recordUntil(/\/embeddings$/, embed))
      }
    }
    const sockets = recorder.host({ OPENAI_BASE_URL: `${recorder.url}/v1` })
    for (const model of stt?.models ?? []) {
      for (const [language, keyterms] of [['en', KEYTERMS] as const, ['multi', []] as const]) {
        const options = { model, language, keyterms }
        const live = async () => hear(await plugin.stt?.(sockets, { ...options, settings: { sttApi: 'realtime' } }))
        const socket = await recorder.recordUntil(/input_audio_buffer.commit/, live)
        requests.push(...messageRequests('Realtime', `${model} ${language}`, socket.messages))
        const whole = async () =>
          transcribe(await plugin.stt?.(host, { ...options, settings: { sttApi: 'transcriptions' } }))
        add('Transcription', model, await recorder.recordUntil(/\/audio\/transcriptions$/, whole))
      }
    }
    for (const { model, voice, settings } of voices(tts)) {
      const say = async () =>
        speak(await plugin.tts?.(sockets, { voice, settings: { ttsModel: model, ...settings }, language: 'en' }))
      const request = await recorder.recordUntil(/response.create|\/audio\/speech$/, say)
      if (request.method === 'POST') add('Speech', `${model} ${voice}`, request)
      else requests.push(...messageRequests('Realtime', `${model} ${voice}`, request.messages))
    }
    for (const model of realtime?.models ?? []) {
      for (const realtimeVoice of ['model', 'own']) {
        const session = await plugin.realtime?.(host, { model, settings: { realtimeVoice } })
        const messages = session === undefined ? [] : await converse(session)
        requests.push(...messageRequests('Realtime', model, messages))
      }
    }
    return requests
  },
}

/** Each model, and each voice. */
function voices({
  models = [],
  voices = [],
  defaultVoice = '',
  defaultModel = '',
}: {
  models?: readonly string[]
  voices?: readonly string[]
  defaultVoice?: string
  defaultModel?: string
} = {}): { model: string; voice: string; settings: object }[] {
  return [
    ...models.map((model) => ({ model, voice: defaultVoice, settings: VOICE })),
    ...voices.map((voice) => ({ model: defaultModel, voice, settings: {} })),
  ]
}

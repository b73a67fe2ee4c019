import plugin from '../../../plugins/cartesia/mod.ts'
import { hear, speak } from '../use-speech.ts'
import { messageRequests, socketRequests, type Vendor, type WireRequest } from './vendor.ts'

const STT = './package/resources/stt'
const TTS = './package/resources/tts/tts.js'

export const cartesia: Vendor = {
  types: {
    Turns: `Query<import('${STT}/auto-finalize/auto-finalize.js').AutoFinalizeWebsocketParams>`,
    TurnsMessage: `import('${STT}/auto-finalize/auto-finalize.js').STTAutoFinalizeWebsocketRequest`,
    Transcripts: `Query<import('${STT}/manual-finalize/manual-finalize.js').ManualFinalizeWebsocketParams>`,
    Speech: `import('${TTS}').WebsocketClientEvent`,
  },
  paths: {
    Turns: ['resources/stt/auto-finalize/internal-base.js', '/stt/turns/websocket'],
    Speech: ['resources/tts/internal-base.js', '/tts/websocket'],
    Transcripts: ['resources/stt/manual-finalize/internal-base.js', '/stt/websocket'],
  },
  async requests({ stt, tts }, recorder) {
    const host = recorder.host({ CARTESIA_BASE_URL: recorder.url })
    const requests: WireRequest[] = []
    for (const model of stt?.models ?? []) {
      const options = { model, language: 'en', keyterms: ['Ada', 'Lovelace'], settings: {} }
      const socket = await recorder.recordUntil(/close/, async () => hear(await plugin.stt?.(host, options)))
      if (model !== 'ink-whisper') requests.push(...socketRequests('Turns', model, socket))
      // Its commands are single words.
      else requests.push(...socketRequests('Transcripts', model, { ...socket, messages: [] }))
    }
    for (const ttsModel of tts?.models ?? []) {
      for (const settings of [{ ttsModel }, { ttsModel, ttsSpeed: 1.1, ttsEmotion: 'calm' }]) {
        const say = async () => speak(await plugin.tts?.(host, { language: 'en', settings }))
        const socket = await recorder.recordUntil(/"continue":false/, say)
        requests.push(
          ...messageRequests('Speech', ttsModel, socket.messages).map((request) => ({ ...request, path: socket.path })),
        )
      }
    }
    return requests
  },
}

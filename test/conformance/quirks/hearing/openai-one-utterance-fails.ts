import { stt } from '@livekit/agents'
import { hearScript } from '../support/hear-script.ts'
import type { ProtocolQuirk } from '../support/quirk.ts'

export default {
  kind: 'protocol',
  title: 'an utterance that OpenAI can’t transcribe is one of several, and no failure of the recogniser',
  report: 'npm openai 7.57.0, realtime.d.ts: transcription.failed is of an item',
  async run(t) {
    const env = (url: string) => ({ OPENAI_API_KEY: 'k', OPENAI_BASE_URL: `${url}/v1` })
    const { events, errors } = await hearScript(t, 'openai', { env, options: { sttApi: 'realtime' } }, (say) => {
      const about = 'conversation.item.input_audio_transcription'
      for (const item_id of ['one', 'two']) {
        say({ type: 'input_audio_buffer.speech_started', item_id, audio_start_ms: 0 })
        say({ type: 'input_audio_buffer.speech_stopped', item_id, audio_end_ms: 400 })
      }
      say({ type: `${about}.failed`, item_id: 'one', error: { type: 'server_error', message: 'It broke.' } })
      say({ type: `${about}.completed`, item_id: 'two', transcript: 'On Saturday.' })
    })
    t.same(errors, [])
    t.same(
      events.filter(([type]) => type === stt.SpeechEventType.FINAL_TRANSCRIPT).map(([, text]) => text),
      ['On Saturday.'],
    )
  },
} satisfies ProtocolQuirk

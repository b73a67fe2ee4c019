import { stt } from '@livekit/agents'
import { hearScript } from '../support/hear-script.ts'
import type { ProtocolQuirk } from '../support/quirk.ts'

export default {
  kind: 'protocol',
  title: 'final texts of ink-whisper are put together letter by letter',
  report:
    'npm @cartesia/cartesia-js 4.2.0, manual-finalize.d.ts: “Do not strip whitespace from text or add whitespace”',
  async run(t) {
    const env = (url: string) => ({ CARTESIA_API_KEY: 'k', CARTESIA_BASE_URL: url })
    const { events, errors } = await hearScript(t, 'cartesia', { env, model: 'ink-whisper' }, (say) => {
      say({ type: 'transcript', is_final: true, text: 'The rest' })
      say({ type: 'transcript', is_final: false, text: 'aur' })
      say({ type: 'transcript', is_final: true, text: 'aurant' })
      say({ type: 'transcript', is_final: true, text: ' on Fri' })
      say({ type: 'transcript', is_final: true, text: 'day. ' })
      say({ type: 'transcript', is_final: true, text: '二名で' })
      say({ type: 'transcript', is_final: true, text: 'お願いします' })
    })
    t.same(errors, [])
    const said = (type: stt.SpeechEventType) => events.filter(([of]) => of === type).map(([, text]) => text)
    t.same(said(stt.SpeechEventType.FINAL_TRANSCRIPT), ['The restaurant', 'on Friday.', '二名でお願いします'])
    t.match(said(stt.SpeechEventType.INTERIM_TRANSCRIPT), ['The rest', 'The restaur', 'The restaurant', 'on Fri'])
  },
} satisfies ProtocolQuirk

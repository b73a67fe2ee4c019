import { stt } from '@livekit/agents'
import { hearScript } from '../support/hear-script.ts'
import type { ProtocolQuirk } from '../support/quirk.ts'

export default {
  kind: 'protocol',
  title: 'a turn that goes on after its eager end is told with the words it has, though Cartesia sends none',
  report: 'npm @cartesia/cartesia-js 4.2.0, auto-finalize.d.ts: turn.resume has no transcript',
  async run(t) {
    const env = (url: string) => ({ CARTESIA_API_KEY: 'k', CARTESIA_BASE_URL: url })
    const { events, errors } = await hearScript(t, 'cartesia', { env }, (say) => {
      say({ type: 'turn.start' })
      say({ type: 'turn.eager_end', transcript: 'Two rooms' })
      say({ type: 'turn.resume' })
      say({ type: 'turn.end', transcript: 'Two rooms on Friday' })
    })
    t.same(errors, [])
    const { INTERIM_TRANSCRIPT, PREFLIGHT_TRANSCRIPT, FINAL_TRANSCRIPT } = stt.SpeechEventType
    t.same(
      events.filter(([, text]) => text !== undefined),
      [
        [PREFLIGHT_TRANSCRIPT, 'Two rooms'],
        [INTERIM_TRANSCRIPT, 'Two rooms'],
        [FINAL_TRANSCRIPT, 'Two rooms on Friday'],
      ],
    )
  },
} satisfies ProtocolQuirk

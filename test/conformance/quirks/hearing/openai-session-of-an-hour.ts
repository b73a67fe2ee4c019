import { hearScript } from '../support/hear-script.ts'
import type { ProtocolQuirk } from '../support/quirk.ts'

export default {
  kind: 'protocol',
  title: 'the end of OpenAI’s session after an hour is no refusal of the request',
  report: 'livekit/agents#2358',
  async run(t) {
    const env = (url: string) => ({ OPENAI_API_KEY: 'k', OPENAI_BASE_URL: `${url}/v1` })
    const { errors } = await hearScript(t, 'openai', { env, options: { sttApi: 'realtime' } }, (say) => {
      const message = 'Your session hit the maximum duration of 60 minutes.'
      say({ type: 'error', error: { type: 'invalid_request_error', code: 'session_expired', message } })
    })
    t.equal(errors.length, 1)
    t.notMatch(errors[0], /refused/)
  },
} satisfies ProtocolQuirk

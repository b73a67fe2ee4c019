import { geminiLive } from '../../../../plugins/google/live.ts'
import { openaiRealtime } from '../../../../plugins/openai/realtime.ts'
import type { ProtocolQuirk } from '../support/quirk.ts'

const CONFIG = { instructions: '', tools: [] }

export default {
  kind: 'protocol',
  title: 'an answer that is cancelled before its first sound, and usage without counts, end nothing',
  report: 'livekit/agents#4488, livekit/agents#2350',
  async run(t) {
    const { parse } = openaiRealtime({ base: 'https://a.example/v1', key: 'k' }, { settings: {} }).session(CONFIG)
    const cancelled = (usage: object | null) =>
      parse(
        JSON.stringify({
          type: 'response.done',
          response: { id: 'r', status: 'cancelled', status_details: { reason: 'client_cancelled' }, usage },
        }),
      )
    t.same(cancelled(null), [{ type: 'response_done', responseId: 'r', status: 'cancelled' }])
    t.match(cancelled({ input_tokens: 0, output_tokens: 0, output_token_details: null, input_token_details: null }), [
      { type: 'response_done', status: 'cancelled', usage: { inputTokens: 0, outputTokens: 0 } },
    ])
    const live = geminiLive({ base: 'https://b.example', key: 'k' }, { settings: {} }).session(CONFIG)
    live.serialise({ type: 'respond', mayCallTools: true })
    const usageMetadata = {
      promptTokenCount: 9,
      promptTokensDetails: [{ modality: 'AUDIO' }],
      responseTokensDetails: null,
    }
    const [, done] = live.parse(JSON.stringify({ serverContent: { turnComplete: true }, usageMetadata }))
    t.match(done, { type: 'response_done', usage: { inputTokens: 9, outputTokens: 0, audioInputTokens: 0 } })
  },
} satisfies ProtocolQuirk

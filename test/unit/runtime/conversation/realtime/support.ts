import type { Test } from 'tap'
import { RealtimeLlm } from '../../../../../runtime/conversation/realtime/realtime-llm.ts'
import { startOpenAIDouble } from '../../../../support/providers/doubles/models/openai.ts'
import type { ConversationOptions } from '../../../../support/providers/doubles/models/openai-conversation.ts'
import { registryWith } from '../../../../support/providers/doubles/registry.ts'
import type { Double } from '../../../../support/providers/doubles/server.ts'
import { makeSpeechWorld } from '../../../../support/providers/doubles/speech/speech.ts'
import { DOUBLE_KEY } from '../../../../support/providers/doubles/start.ts'

export const PROMPT = 'The shop is at 12 Pier Street. It opens at nine. Delivery costs three euros anywhere in town.'
export const WHERE = 'Where is the shop?'
export const DELIVERY = 'How much does delivery cost?'

type Told = Readonly<Record<string, unknown>> & { type?: string }

export interface RealtimeWorld {
  readonly double: Double
  /** What the session was told, in order, sound left out. */
  readonly told: Told[]
  readonly refused: string[]
  /** A model of the session for one call. */
  model(options?: Record<string, unknown>): Promise<RealtimeLlm>
}

/** A speech-to-speech service, which refuses what the real one refuses. */
export async function realtimeWorld(t: Test, options: Partial<ConversationOptions> = {}): Promise<RealtimeWorld> {
  const speech = await makeSpeechWorld([WHERE, DELIVERY])
  const told: Told[] = []
  const refused: string[] = []
  const double = await startOpenAIDouble({
    key: DOUBLE_KEY,
    speech,
    conversation: {
      speech,
      told: (event) => void (event.type === 'input_audio_buffer.append' || told.push(event)),
      refused: (code, message) => void refused.push(`${code}: ${message}`),
      ...options,
    },
  })
  t.teardown(async () => {
    await double.stop()
    speech.stop()
  })
  const env = { OPENAI_API_KEY: DOUBLE_KEY, OPENAI_BASE_URL: `${double.url}/v1` }
  return {
    double,
    told,
    refused,
    async model(own = {}) {
      const registry = await registryWith(t, env, { openai: own })
      const provider = await registry.create('realtime', 'openai', { model: 'gpt-realtime-2.1' })
      return new RealtimeLlm({
        provider,
        name: 'openai',
        model: 'gpt-realtime-2.1',
        identity: { title: 'OpenAI' },
        config: { instructions: '', tools: [] },
      })
    },
  }
}

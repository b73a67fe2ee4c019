import { startCartesiaDouble } from './cartesia.ts'
import { startDeepgramDouble } from './deepgram.ts'
import { startOpenAIDouble } from './openai.ts'
import type { Double } from './server.ts'
import { makeSpeechWorld } from './speech.ts'

export const DOUBLES = ['openai', 'deepgram', 'cartesia'] as const
export type DoubleName = (typeof DOUBLES)[number]

/** The key every double wants. */
export const DOUBLE_KEY = 'double-key-5f3a9c'

export interface Doubles {
  readonly doubles: Readonly<Record<DoubleName, Double>>
  /** The variables by which a Patchbay finds them. */
  readonly env: Record<string, string>
  stop(): Promise<void>
}

/** Starts a double of each provider. `utterances`: what they understand besides the built-in sentences. */
export async function startDoubles(utterances: readonly string[] = []): Promise<Doubles> {
  const speech = await makeSpeechWorld(utterances)
  const options = { key: DOUBLE_KEY, speech }
  const [openai, deepgram, cartesia] = await Promise.all([
    startOpenAIDouble(options),
    startDeepgramDouble(options),
    startCartesiaDouble(options),
  ])
  const doubles = { openai, deepgram, cartesia }
  return {
    doubles,
    env: {
      OPENAI_API_KEY: DOUBLE_KEY,
      OPENAI_BASE_URL: `${openai.url}/v1`,
      DEEPGRAM_API_KEY: DOUBLE_KEY,
      DEEPGRAM_BASE_URL: deepgram.url,
      CARTESIA_API_KEY: DOUBLE_KEY,
      CARTESIA_BASE_URL: cartesia.url,
    },
    async stop() {
      speech.stop()
      await Promise.all(Object.values(doubles).map((double) => double.stop()))
    },
  }
}

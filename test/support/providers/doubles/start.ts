import { startAnthropicDouble } from './models/anthropic.ts'
import { startGoogleDouble } from './models/google.ts'
import { startOpenAIDouble } from './models/openai.ts'
import type { ConversationOptions } from './models/openai-conversation.ts'
import type { Double } from './server.ts'
import { startAssemblyAIDouble } from './speech/assemblyai.ts'
import { startAzureDouble } from './speech/azure.ts'
import { startCartesiaDouble } from './speech/cartesia.ts'
import { startDeepgramDouble } from './speech/deepgram.ts'
import { startElevenLabsDouble } from './speech/elevenlabs.ts'
import { makeSpeechWorld } from './speech/speech.ts'

export const DOUBLES = [
  'openai',
  'deepgram',
  'cartesia',
  'anthropic',
  'elevenlabs',
  'assemblyai',
  'google',
  'azure',
] as const
export type DoubleName = (typeof DOUBLES)[number]

/** The key every double wants. */
export const DOUBLE_KEY = 'double-key-5f3a9c'

export interface Doubles {
  readonly doubles: Readonly<Record<DoubleName, Double>>
  /** The variables by which a Patchbay finds them. */
  readonly env: Record<string, string>
  stop(): Promise<void>
}

/**
 * Starts a double of each provider.
 *
 * @param utterances what they understand besides the built-in sentences
 * @param watched how sessions of OpenAI's Realtime API behave, and who looks into them
 */
export async function startDoubles(
  utterances: readonly string[] = [],
  watched: Omit<ConversationOptions, 'speech'> = {},
): Promise<Doubles> {
  const speech = await makeSpeechWorld(utterances)
  const options = { key: DOUBLE_KEY, speech }
  const [openai, deepgram, cartesia, anthropic, elevenlabs, assemblyai, google, azure] = await Promise.all([
    startOpenAIDouble({ ...options, conversation: { speech, ...watched } }),
    startDeepgramDouble(options),
    startCartesiaDouble(options),
    startAnthropicDouble(options),
    startElevenLabsDouble(options),
    startAssemblyAIDouble(options),
    startGoogleDouble(options),
    startAzureDouble(options),
  ])
  const doubles = { openai, deepgram, cartesia, anthropic, elevenlabs, assemblyai, google, azure }
  return {
    doubles,
    env: {
      OPENAI_API_KEY: DOUBLE_KEY,
      OPENAI_BASE_URL: `${openai.url}/v1`,
      DEEPGRAM_API_KEY: DOUBLE_KEY,
      DEEPGRAM_BASE_URL: deepgram.url,
      CARTESIA_API_KEY: DOUBLE_KEY,
      CARTESIA_BASE_URL: cartesia.url,
      ANTHROPIC_API_KEY: DOUBLE_KEY,
      ANTHROPIC_BASE_URL: anthropic.url,
      ELEVENLABS_API_KEY: DOUBLE_KEY,
      ELEVENLABS_BASE_URL: elevenlabs.url,
      ASSEMBLYAI_API_KEY: DOUBLE_KEY,
      ASSEMBLYAI_BASE_URL: assemblyai.url,
      GOOGLE_API_KEY: DOUBLE_KEY,
      GOOGLE_BASE_URL: google.url,
      AZURE_SPEECH_KEY: DOUBLE_KEY,
      AZURE_SPEECH_BASE_URL: azure.url,
    },
    async stop() {
      speech.stop()
      await Promise.all(Object.values(doubles).map((double) => double.stop()))
    },
  }
}

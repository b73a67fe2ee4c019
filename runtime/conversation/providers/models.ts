import { initializeLogger } from '@livekit/agents'
import localInference, { type Vad } from '@livekit/local-inference'

/** Rate of every local model, and so of all the caller's audio behind the resampler. */
export const MODEL_RATE_HZ = 16_000
/** What the end-of-turn model looks at: the last 1.2 s. */
export const EOT_SAMPLES = 19_200
export type { Vad }

const { createVad, initEot, initVad, predict } = localInference
/** Samples the voice-activity model judges at once: 32 ms. */
export const VAD_WINDOW_SAMPLES = localInference.VAD_WINDOW_SAMPLES

/** The models that run inside the process. Weights are loaded once and shared by all sessions. */
export interface LocalModels {
  createVad(): Vad
  /** Probability that the speaker's turn is over, from 16 kHz audio that ends now. Runs on the thread pool. */
  endOfTurn(samples: Int16Array): Promise<number>
}

/** Loads voice-activity and end-of-turn models (about 0.5 s, 110 MB) and readies @livekit/agents. Idempotent. */
export async function loadModels(logLevel: string): Promise<LocalModels> {
  initializeLogger({ pretty: false, level: logLevel })
  initVad()
  initEot()
  // The first inference of each model allocates its arena: not in a caller's first turn.
  await createVad().predict(new Int16Array(VAD_WINDOW_SAMPLES))
  await predict(new Int16Array(EOT_SAMPLES))
  return { createVad, endOfTurn: predict }
}

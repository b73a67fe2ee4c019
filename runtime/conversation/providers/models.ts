import { initializeLogger } from '@livekit/agents'
import localInference, { type Vad } from '@livekit/local-inference'

/** Rate of every local model, and so of all the caller's audio behind the resampler. */
export const MODEL_RATE_HZ = 16_000
export type { Vad }

const { createVad, initVad } = localInference
/** Samples the voice-activity model judges at once: 32 ms. */
export const VAD_WINDOW_SAMPLES = localInference.VAD_WINDOW_SAMPLES

/** The models that run inside the process. Weights are loaded once and shared by all sessions. */
export interface LocalModels {
  createVad(): Vad
}

/** Loads the voice-activity model and readies @livekit/agents. Idempotent. */
export async function loadModels(logLevel: string): Promise<LocalModels> {
  initializeLogger({ pretty: false, level: logLevel })
  initVad()
  // The first inference allocates its arena: not in a caller's first turn.
  await createVad().predict(new Int16Array(VAD_WINDOW_SAMPLES))
  return { createVad }
}

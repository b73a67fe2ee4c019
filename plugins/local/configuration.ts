import { join } from 'node:path'
import { HEARING_RATE_HZ, type Model } from './model.ts'

interface Place {
  model: Model
  dir: string
  threads: number
}

const common = (threads: number) => ({ numThreads: threads, provider: 'cpu', debug: false })
const features = { sampleRate: HEARING_RATE_HZ, featureDim: 80 }

/** Absolute paths of a model's parts, by the names sherpa-onnx gives them. */
function partsOf({ model, dir }: Place): Record<string, string> {
  return Object.fromEntries(Object.entries(model.parts).map(([part, path]) => [part, join(dir, path)]))
}

/** The configuration of a recogniser that hears word by word. `pauseMs`: silence that ends an utterance. */
export function streamingConfig(place: Place, pauseMs: number): object {
  const { tokens, ...transducer } = partsOf(place)
  return {
    featConfig: features,
    modelConfig: { transducer, tokens, ...common(place.threads) },
    decodingMethod: 'greedy_search',
    enableEndpoint: true,
    // Silence before a word ends nothing: there is nothing to tell then.
    rule1MinTrailingSilence: 20,
    rule2MinTrailingSilence: pauseMs / 1000,
    rule3MinUtteranceLength: 25,
  }
}

/** The configuration of a recogniser that takes whole utterances. */
export function offlineConfig(place: Place): object {
  const { tokens, ...parts } = partsOf(place)
  return {
    featConfig: features,
    modelConfig: { transducer: parts, tokens, modelType: 'nemo_transducer', ...common(place.threads) },
  }
}

/** The configuration of a voice. */
export function voiceConfig(place: Place): object {
  const engine = place.model.engine === 'kokoro' ? 'kokoro' : 'vits'
  return { model: { [engine]: partsOf(place), ...common(place.threads) }, maxNumSentences: 1 }
}

/** The configuration of what takes noise away. */
export function denoiserConfig(place: Place): object {
  return { model: { gtcrn: partsOf(place), ...common(place.threads) } }
}

/** The thread of one model: loads it, then serves all its sessions. What native code does wrong here ends the process. */
import { parentPort, workerData } from 'node:worker_threads'
import { denoiserConfig, offlineConfig, streamingConfig, voiceConfig } from './configuration.ts'
import { Denoiser } from './denoiser.ts'
import { HEARING_RATE_HZ, type ThreadOptions } from './model.ts'
import { type LocalRecogniser, OfflineRecogniser, StreamingRecogniser } from './recognisers.ts'
import { loadSherpa } from './sherpa.ts'
import type { FromThread, ToThread } from './thread-messages.ts'
import { Voice } from './voice.ts'

const { model, modelsDir, dir, denoiser, threads, pauseMs } = workerData as ThreadOptions
const sherpa = loadSherpa(modelsDir)

const say = (message: FromThread, transfer: ArrayBuffer[] = []): void => parentPort?.postMessage(message, transfer)

const place = { model, dir, threads }
let recogniser: LocalRecogniser | undefined
let voice: Voice | undefined

/** Noise is taken away for each caller by himself: what does it remembers what it has heard. */
const quiet = (): Denoiser | undefined =>
  denoiser && new Denoiser(new sherpa.OnlineSpeechDenoiser(denoiserConfig({ ...denoiser, threads: 1 })))

async function load(): Promise<number> {
  switch (model.engine) {
    case 'streaming-transducer':
      recogniser = new StreamingRecogniser(new sherpa.OnlineRecognizer(streamingConfig(place, pauseMs)), quiet, say)
      return HEARING_RATE_HZ
    case 'offline-nemo-transducer':
      recogniser = new OfflineRecogniser(
        await sherpa.OfflineRecognizer.createAsync(offlineConfig(place)),
        quiet,
        say,
        pauseMs,
      )
      return HEARING_RATE_HZ
    case 'vits':
    case 'kokoro': {
      const engine = await sherpa.OfflineTts.createAsync(voiceConfig(place))
      if (engine.sampleRate !== model.sampleRateHz) {
        throw new Error(`it speaks at ${engine.sampleRate} Hz, and the list of models says ${model.sampleRateHz}`)
      }
      voice = new Voice(engine, say)
      return engine.sampleRate
    }
    default:
      throw new Error(`"${model.engine}" neither hears nor speaks`)
  }
}

function receive(message: ToThread): void {
  switch (message.type) {
    case 'hear':
      recogniser?.open(message.session)
      break
    case 'speak':
      voice?.speak(message.session, message.request)
      break
    case 'audio':
      recogniser?.push(message.session, message.samples)
      break
    case 'end':
      recogniser?.end(message.session)
      break
    case 'cancel':
      recogniser?.cancel(message.session)
      voice?.cancel(message.session)
      break
    case 'ping':
      say({ type: 'pong' })
  }
}

// What comes while the model loads waits its turn.
const early: ToThread[] = []
let isLoaded = false
parentPort?.on('message', (message: ToThread) => {
  if (isLoaded) receive(message)
  else early.push(message)
})
try {
  const sampleRateHz = await load()
  isLoaded = true
  say({ type: 'ready', sampleRateHz })
  for (const message of early) receive(message)
} catch (error) {
  const why = error instanceof Error ? error.message : String(error)
  say({ type: 'broken', reason: `it can't be loaded (${why}); pull it again, or update Patchbay` })
  process.exit(1)
}

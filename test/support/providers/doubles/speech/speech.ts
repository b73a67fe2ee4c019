import { spawn } from 'node:child_process'
import { Recogniser, type RecogniserEvent } from '../../../../../plugins/sim/recogniser.ts'
import builtIn from '../../../../../plugins/sim/utterances/en.json' with { type: 'json' }
import { Vocabulary } from '../../../../../plugins/sim/vocabulary.ts'
import { Resampler } from '../../../../../runtime/media/dsp/resample.ts'
import { ESPEAK_SAMPLE_RATE_HZ, espeak, type Spawn } from '../../../../../runtime/plugin-sdk/speech/espeak.ts'

/** What doubles speak and hear with: real audio, made by espeak-ng and heard by the simulated world's recogniser. */
export interface SpeechWorld {
  /** Mono 16-bit samples at `rateHz`, as they are made. */
  speak(text: string, rateHz: number, signal: AbortSignal): AsyncGenerator<Int16Array>
  /** Hears the sentences of the vocabulary in audio that comes in parts. */
  listen(rateHz: number, endSilenceMs: number, heard: (event: RecogniserEvent) => void): Listener
  stop(): void
}

export interface Listener {
  push(samples: Int16Array): void
  /** Decides at once about what was heard so far. */
  flush(): void
}

const start: Spawn = (program, args, options) => spawn(program, args, { ...options, stdio: 'pipe' })

/**
 * `utterances`: what is understood besides the built-in sentences. It has learnt them all when this resolves: a provider
 * doesn't begin to learn with its first caller.
 */
export async function makeSpeechWorld(utterances: readonly string[] = []): Promise<SpeechWorld> {
  const over = new AbortController()
  const vocabulary = new Vocabulary(start, over.signal)
  const templates = await vocabulary.templates([...builtIn, ...utterances], ['en-us'])
  return {
    async *speak(text, rateHz, signal) {
      const resampler = new Resampler(ESPEAK_SAMPLE_RATE_HZ, rateHz)
      const joined = AbortSignal.any([signal, over.signal])
      for await (const samples of espeak(start, text, { voice: 'en-us' }, joined)) yield resampler.push(samples)
      yield resampler.flush()
    },
    listen(rateHz, endSilenceMs, heard) {
      const recogniser = new Recogniser(rateHz, { endSilenceMs })
      recogniser.use(templates)
      return { push: (samples) => recogniser.push(samples, heard), flush: () => recogniser.flush(heard) }
    },
    stop: () => over.abort(),
  }
}

/** 16-bit little-endian samples, copied to where they are aligned. */
export function samplesOf(bytes: Uint8Array): Int16Array<ArrayBuffer> {
  return new Int16Array(Uint8Array.from(bytes.subarray(0, bytes.length & ~1)).buffer)
}

export function bytesOf(samples: Int16Array): Buffer {
  return Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength)
}

/** Words with their times, as recognisers report them. */
export function wordsOf(text: string, startMs: number, endMs: number): { word: string; start: number; end: number }[] {
  const words = text.split(/\s+/).filter(Boolean)
  const stepS = (endMs - startMs) / 1000 / Math.max(1, words.length)
  return words.map((word, i) => ({ word, start: startMs / 1000 + i * stepS, end: startMs / 1000 + (i + 1) * stepS }))
}

import { initializeLogger } from '@livekit/agents'
import { boundary } from '../../runtime/lib/async/boundary.ts'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { closeInstance, type PluginRegistry } from '../../runtime/plugin/host.ts'
import { BYTES_PER_FRAME, wavHead } from '../../runtime/recording/wav.ts'

/** A voice alone, outside of a call. Importing this loads @livekit/agents: the route does so with the first sample. */

interface Sentence {
  provider: string
  voice: string
  /** A language tag; undefined: as the voice speaks by itself. */
  language: string | undefined
  text: string
}

/** More than any sample takes; what a voice says beyond it is left out. */
const MAX_SECONDS = 30
const ONE_ATTEMPT = { maxRetry: 0, retryIntervalMs: 0, timeoutMs: 10_000 }

/**
 * The sentence as a WAV file: 16-bit PCM in stereo, both sides alike. Throws `plugin` where the provider can't be used,
 * `provider_fault` where it says nothing, and the signal's reason.
 */
export async function speakText(
  plugins: Pick<PluginRegistry, 'create' | 'titleOf'>,
  { provider, voice, language, text }: Sentence,
  signal: AbortSignal,
): Promise<Buffer> {
  // The library's own logger prints what voices are given to say.
  initializeLogger({ pretty: false, level: 'silent' })
  const instance = await plugins.create('tts', provider, { voice, ...(language === undefined ? {} : { language }) })
  let failure: Error | undefined
  instance.on(
    'error',
    boundary('provider', ({ error }) => {
      failure = error
    }),
  )
  try {
    const sides: Int16Array[] = []
    let rateHz = 0
    let samples = 0
    for await (const { frame } of instance.synthesize(text, ONE_ATTEMPT, signal)) {
      rateHz = frame.sampleRate
      samples += frame.samplesPerChannel
      sides.push(firstChannel(frame.data, frame.channels))
      if (samples > rateHz * MAX_SECONDS) break
    }
    signal.throwIfAborted()
    if (samples === 0) throw failed(plugins, provider, failure ?? new Error('it made no sound'))
    return wavOf(sides, rateHz, samples)
  } catch (error) {
    if (signal.aborted) throw signal.reason
    throw error instanceof PatchbayError ? error : failed(plugins, provider, failure ?? (error as Error))
  } finally {
    await closeInstance(instance)
  }
}

function failed(plugins: Pick<PluginRegistry, 'titleOf'>, provider: string, cause: Error): PatchbayError {
  const params = { provider: plugins.titleOf(provider), detail: cause.message }
  return new PatchbayError('provider_fault', { params, cause })
}

/** A copy: voices use their buffers again. */
function firstChannel(data: Int16Array, channels: number): Int16Array {
  return channels === 1
    ? data.slice()
    : Int16Array.from({ length: data.length / channels }, (_, at) => data[at * channels] ?? 0)
}

function wavOf(parts: readonly Int16Array[], rateHz: number, samples: number): Buffer {
  const data = new Int16Array(samples * 2)
  let at = 0
  for (const part of parts) {
    for (const sample of part) {
      data[at++] = sample
      data[at++] = sample
    }
  }
  const bytes = Buffer.from(data.buffer, 0, at * 2)
  return Buffer.concat([wavHead(rateHz, (at / 2) * BYTES_PER_FRAME), bytes])
}

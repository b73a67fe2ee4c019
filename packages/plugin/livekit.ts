/**
 * Voices and recognisers of LiveKit's plugins (`@livekit/agents-plugin-*`, which speak HTTP or WebSockets) as a plugin:
 *
 *     import { TTS } from '@livekit/agents-plugin-rime'
 *     import { fromLiveKit } from '@patchbay/plugin/livekit'
 *
 *     export default fromLiveKit({
 *       tts: (host, { voice = 'luna' }) => new TTS({ apiKey: host.env.get('RIME_API_KEY'), speaker: voice }),
 *     })
 */
import { definePlugin, type Factories, type Host, type Options, ProviderError, type SttEvent } from './mod.ts'

interface Frame {
  readonly data: Int16Array
  readonly sampleRate: number
  readonly channels: number
  readonly samplesPerChannel: number
}

/** What is read of a stream of LiveKit: `close` ends it. */
type Reading<T> = AsyncIterable<T> & { close(): void }

/** What is used of LiveKit's `tts.TTS`. */
export interface LiveKitTts {
  readonly sampleRate: number
  readonly capabilities: { readonly streaming: boolean }
  synthesize(text: string, connection?: undefined, signal?: AbortSignal): Reading<unknown>
  stream(): Reading<unknown> & { pushText(text: string): void; endInput(): void }
  close?(): Promise<void>
}

/** What is used of LiveKit's `stt.STT`. */
export interface LiveKitStt {
  stream(): Reading<unknown> & {
    readonly neededSampleRate?: number | undefined
    pushFrame(frame: Frame): void
    flush(): void
    endInput(): void
  }
  close?(): Promise<void>
}

/** What each call makes of a provider. */
export interface LiveKitFactories {
  tts?(host: Host, options: Options): LiveKitTts | Promise<LiveKitTts>
  stt?(host: Host, options: Options): LiveKitStt | Promise<LiveKitStt>
}

/** Of what recognisers take, where they don't say another. */
const STT_RATE_HZ = 16_000

/** The plugin of a provider that LiveKit has a plugin for. */
export function fromLiveKit({ tts, stt }: LiveKitFactories): Factories {
  return definePlugin({
    ...(tts === undefined
      ? {}
      : {
          tts: async (host: Host, options: Options) => {
            const voice = await tts(host, options)
            return {
              sampleRateHz: voice.sampleRate,
              speak: (text: string, signal: AbortSignal) => speak(voice, text, signal, host.plugin),
              dispose: () => voice.close?.(),
            }
          },
        }),
    ...(stt === undefined
      ? {}
      : {
          stt: async (host: Host, options: Options) => {
            const recogniser = await stt(host, options)
            return {
              sampleRateHz: STT_RATE_HZ,
              recognise: (audio: AsyncIterable<Int16Array>, signal: AbortSignal) =>
                recognise(recogniser, audio, signal, host.plugin),
              dispose: () => recogniser.close?.(),
            }
          },
        }),
  })
}

async function* speak(voice: LiveKitTts, text: string, signal: AbortSignal, title: string): AsyncGenerator<Int16Array> {
  let isHeard = false
  for await (const given of reading(() => begin(voice, text, signal), signal, title)) {
    // A symbol marks the end of what was said.
    if (typeof given !== 'object' || given === null) continue
    const { data, channels } = (given as { frame: Frame }).frame
    if (channels !== 1) throw new Error(`The voice gives ${channels} channels; Patchbay takes one`)
    isHeard ||= data.length > 0
    yield data
  }
  // Some of LiveKit's plugins log what a provider refuses, and end.
  if (!isHeard && !signal.aborted && /[\p{L}\p{N}]/u.test(text)) throw new Error(`${title} made no sound`)
}

function begin(voice: LiveKitTts, text: string, signal: AbortSignal): Reading<unknown> {
  if (!voice.capabilities.streaming) return voice.synthesize(text, undefined, signal)
  const stream = voice.stream()
  stream.pushText(text)
  stream.endInput()
  return stream
}

/** What LiveKit's events of a recogniser are called. */
const INTERIM = 1
const FINAL = 2

/** After the last of the audio, how long nothing more has to come, and how long is waited at most. */
const SETTLED_AFTER_MS = 1_000
const MAX_WAIT_MS = 10_000
const LOOK_EVERY_MS = 50
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

interface SpeechEvent {
  readonly type: number
  readonly alternatives?: readonly {
    readonly text: string
    readonly startTime?: number
    readonly endTime?: number
    readonly confidence?: number
    readonly language?: string
  }[]
}

async function* recognise(
  recogniser: LiveKitStt,
  audio: AsyncIterable<Int16Array>,
  signal: AbortSignal,
  title: string,
): AsyncGenerator<SttEvent> {
  let fault: unknown
  let heardAtMs = 0
  const open = (): Reading<unknown> => {
    const stream = recogniser.stream()
    const { neededSampleRate = STT_RATE_HZ } = stream
    if (neededSampleRate !== STT_RATE_HZ) {
      stream.close()
      throw new Error(`The recogniser takes ${neededSampleRate} Hz; make it with a sampleRate of ${STT_RATE_HZ}`)
    }
    const feeding = async (): Promise<void> => {
      for await (const samples of audio) {
        const data = samples.slice()
        stream.pushFrame({ data, sampleRate: STT_RATE_HZ, channels: 1, samplesPerChannel: data.length })
      }
      // What ends in the middle of an answer is not waited for: LiveKit's streams last as long as a call.
      stream.flush()
      const endMs = performance.now()
      heardAtMs = endMs
      const isSettled = (nowMs: number): boolean =>
        signal.aborted || nowMs - heardAtMs > SETTLED_AFTER_MS || nowMs - endMs > MAX_WAIT_MS
      while (!isSettled(performance.now())) await pause(LOOK_EVERY_MS)
      stream.endInput()
    }
    feeding().catch((error: unknown) => {
      fault = error
      stream.close()
    })
    return stream
  }
  for await (const event of reading(open, signal, title)) {
    heardAtMs = performance.now()
    const { type, alternatives: [words] = [] } = event as SpeechEvent
    if (words === undefined || (type !== INTERIM && type !== FINAL)) continue
    const { text, startTime: startS, endTime: endS, confidence, language } = words
    const known = Object.entries({ startS, endS, confidence, language }).filter(([, value]) => value !== undefined)
    yield { type: type === FINAL ? 'final' : 'interim', text, ...Object.fromEntries(known) }
  }
  if (fault !== undefined && !signal.aborted) throw fault
}

/** What a stream gives until it ends or the signal aborts. Its failure is judged. */
async function* reading(open: () => Reading<unknown>, signal: AbortSignal, title: string): AsyncGenerator<unknown> {
  let stream: Reading<unknown> | undefined
  const close = (): void => stream?.close()
  signal.addEventListener('abort', close, { once: true })
  try {
    if (signal.aborted) return
    stream = open()
    for await (const given of stream) {
      if (signal.aborted) return
      yield given
    }
  } catch (error) {
    if (!signal.aborted) throw judged(title, error)
  } finally {
    signal.removeEventListener('abort', close)
    close()
  }
}

/** The HTTP status where an error has none of its own but in its words. */
const STATUS = /\b(?:failed|status|response|rejected)\b\D*([45]\d\d)\b/i

function judged(title: string, error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof ProviderError) return error
  const { statusCode } = error as { statusCode?: number }
  const status = statusCode !== undefined && statusCode > 0 ? statusCode : Number(STATUS.exec(error.message)?.[1])
  if (status >= 400) return ProviderError.ofStatus(title, status, error.message)
  const isNetwork = /^API(Connection|Timeout)Error$/.test(error.name) || error.message === 'fetch failed'
  return isNetwork || 'code' in error ? ProviderError.unreachable(title, error) : error
}

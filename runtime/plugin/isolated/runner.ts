/**
 * What runs in a plugin's process: reads frames from the role, runs the plugin's code, writes frames back. It has what the
 * plugin has.
 */
import type { Embedding, Factories, Host, Llm, Options, Stt, Tts } from '../../../packages/plugin/mod.ts'
import { audioFrame, FrameReader, jsonFrame } from './frames.ts'
import type { FromPlugin, ToPlugin, Use } from './messages.ts'

/** The ends of the process's pipe. */
export interface Pipe {
  read: AsyncIterable<Uint8Array>
  /** Resolves with how many of the bytes it took. */
  write(bytes: Uint8Array): Promise<number>
}

let pipe: Pipe

/** Audio of one caller that its recogniser has not taken; what is older is dropped. */
const MAX_WAITING_AUDIO = 1_000

interface Session {
  abort: AbortController
  audio: AudioQueue | undefined
}

/** Audio on its way to a recogniser. */
class AudioQueue implements AsyncIterable<Int16Array> {
  readonly #waiting: Int16Array[] = []
  #ended = false
  #wake: () => void = () => undefined

  push(samples: Int16Array): void {
    if (this.#waiting.length >= MAX_WAITING_AUDIO) this.#waiting.shift()
    this.#waiting.push(samples)
    this.#wake()
  }

  end(): void {
    this.#ended = true
    this.#wake()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Int16Array> {
    for (;;) {
      const next = this.#waiting.shift()
      if (next !== undefined) yield next
      else if (this.#ended) return
      else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
      }
    }
  }
}

let writing = Promise.resolve()
const frames: Uint8Array[] = []

/** Everything of one turn of the event loop leaves in one write. */
function put(frame: Uint8Array): void {
  frames.push(frame)
  if (frames.length > 1) return
  writing = writing.then(async () => {
    await new Promise<void>((resolve) => setTimeout(resolve, 0))
    const batch = frames.splice(0)
    const whole = new Uint8Array(batch.reduce((sum, { length }) => sum + length, 0))
    let at = 0
    for (const one of batch) {
      whole.set(one, at)
      at += one.length
    }
    for (let sent = 0; sent < whole.length; ) sent += await pipe.write(whole.subarray(sent))
  })
}

/** Speech that is made faster than it is heard must not look like a flood to the role. */
const MAX_AUDIO_BYTES_PER_S = 2 << 20
const AUDIO_BURST_BYTES = 1 << 20
let audioBytes = 0
let audioAtMs = performance.now()

async function pace(bytes: number): Promise<void> {
  const nowMs = performance.now()
  audioBytes = Math.max(0, audioBytes - ((nowMs - audioAtMs) * MAX_AUDIO_BYTES_PER_S) / 1000) + bytes
  audioAtMs = nowMs
  const overMs = ((audioBytes - AUDIO_BURST_BYTES) * 1000) / MAX_AUDIO_BYTES_PER_S
  if (overMs > 0) await new Promise<void>((resolve) => setTimeout(resolve, overMs))
}

const say = (message: FromPlugin): void => put(jsonFrame(message))
const words = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const ending = new AbortController()
const sessions = new Map<number, Session>()
let host: Host
let factories: Factories = {}

for (const level of ['debug', 'info', 'warn', 'error'] as const) {
  console[level] = (...args) => say({ type: 'log', level, message: args.map(String).join(' ').slice(0, 2_000) })
}
console.log = console.info

async function init({ plugin, module, env, granted, modelsDir }: Extract<ToPlugin, { type: 'init' }>): Promise<void> {
  const allowed = new Set(granted)
  const log = (level: 'debug' | 'info' | 'warn' | 'error') => (message: string) =>
    say({ type: 'log', level, message: String(message).slice(0, 2_000) })
  host = {
    plugin,
    ...(modelsDir === undefined ? {} : { modelsDir }),
    signal: ending.signal,
    log: { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') },
    env: {
      get(name) {
        if (allowed.has(name)) return env[name]
        throw new Error(
          `Plugin "${plugin}" requires env access to "${name}"; grant it in config/plugins.json or with --allow-env=${plugin}:${name}`,
        )
      },
    },
  }
  try {
    const loaded = (await import(module)) as { default?: Factories }
    if (typeof loaded.default !== 'object' || loaded.default === null) {
      throw new Error('its default export is not definePlugin({ … })')
    }
    factories = loaded.default
    say({ type: 'ready', factories: Object.keys(factories) })
  } catch (error) {
    say({ type: 'broken', reason: words(error) })
  }
}

async function open(session: number, use: Use, options: Options): Promise<void> {
  const abort = new AbortController()
  const audio = use.kind === 'stt' ? new AudioQueue() : undefined
  sessions.set(session, { abort, audio })
  try {
    await useOnce(session, use, options, abort.signal, audio)
    if (!abort.signal.aborted) say({ type: 'done', session })
  } catch (error) {
    const failure = (error as { failure?: unknown }).failure
    const judged = typeof failure === 'object' && failure !== null ? { failure: failure as never } : {}
    if (!abort.signal.aborted) say({ type: 'failed', session, message: words(error), ...judged })
  } finally {
    sessions.delete(session)
  }
}

async function useOnce(
  session: number,
  use: Use,
  options: Options,
  signal: AbortSignal,
  audio: AudioQueue | undefined,
): Promise<void> {
  const make = async <T>(kind: string): Promise<T> => {
    const factory = (factories as Record<string, ((host: Host, options: Options) => T | Promise<T>) | undefined>)[kind]
    if (factory === undefined) throw new Error(`The plugin has no ${kind} factory`)
    return factory(host, options)
  }
  switch (use.kind) {
    case 'stt': {
      const stt = await make<Stt>('stt')
      for await (const event of stt.recognise(audio ?? new AudioQueue(), signal)) {
        if (signal.aborted) return
        say({ type: 'event', session, event })
      }
      return
    }
    case 'tts': {
      const tts = await make<Tts>('tts')
      for await (const samples of tts.speak(use.text, signal)) {
        if (signal.aborted) return
        put(audioFrame(session, samples))
        // Others get their turn, and the writing keeps up.
        await writing
        await pace(samples.byteLength)
      }
      return
    }
    case 'llm': {
      const llm = await make<Llm>('llm')
      for await (const event of llm.chat(use.request, signal)) {
        if (signal.aborted) return
        say({ type: 'event', session, event })
      }
      return
    }
    case 'embedding': {
      const embedding = await make<Embedding>('embedding')
      say({ type: 'result', session, result: await embedding.embed(use.texts, signal) })
      return
    }
    case 'describe': {
      const { sampleRateHz, dimensions } = await make<{ sampleRateHz?: number; dimensions?: number }>(use.of)
      say({ type: 'result', session, result: { sampleRateHz, dimensions } })
      return
    }
    case 'check':
      await factories.check?.(host, options, signal)
  }
}

function receive(message: ToPlugin): void {
  switch (message.type) {
    case 'init':
      return void init(message)
    case 'open':
      return void open(message.session, message.use, message.options)
    case 'end':
      sessions.get(message.session)?.audio?.end()
      return
    case 'cancel': {
      const session = sessions.get(message.session)
      session?.abort.abort()
      session?.audio?.end()
      return
    }
    case 'beat':
      say(message)
  }
}

/** Resolves once the role is gone. */
export async function run(ends: Pipe): Promise<void> {
  pipe = ends
  const reader = new FrameReader()
  for await (const bytes of pipe.read) {
    for (const frame of reader.push(bytes)) {
      if ('message' in frame) receive(frame.message as ToPlugin)
      else sessions.get(frame.session)?.audio?.push(frame.samples)
    }
  }
  ending.abort()
}

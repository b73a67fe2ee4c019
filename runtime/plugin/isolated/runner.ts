/**
 * The program that Deno runs for a plugin: reads frames from standard input, runs the plugin's code, writes frames to
 * standard output. It has what the plugin has: the operator's grants and nothing else.
 */
import type { Embedding, Factories, Host, Llm, Options, Stt, Tts } from '../../../packages/plugin/mod.ts'
import { audioFrame, FrameReader, jsonFrame } from './frames.ts'
import type { FromPlugin, ToPlugin, Use } from './messages.ts'

declare const Deno: {
  stdin: { readable: ReadableStream<Uint8Array> }
  stdout: { write(bytes: Uint8Array): Promise<number> }
  exit(code: number): never
}

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
    for (let sent = 0; sent < whole.length; ) sent += await Deno.stdout.write(whole.subarray(sent))
  })
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

async function init({ plugin, module, env, granted }: Extract<ToPlugin, { type: 'init' }>): Promise<void> {
  const allowed = new Set(granted)
  const log = (level: 'debug' | 'info' | 'warn' | 'error') => (message: string) =>
    say({ type: 'log', level, message: String(message).slice(0, 2_000) })
  host = {
    plugin,
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
    await run(session, use, options, abort.signal, audio)
    if (!abort.signal.aborted) say({ type: 'done', session })
  } catch (error) {
    const failure = (error as { failure?: unknown }).failure
    const judged = typeof failure === 'object' && failure !== null ? { failure: failure as never } : {}
    if (!abort.signal.aborted) say({ type: 'failed', session, message: words(error), ...judged })
  } finally {
    sessions.delete(session)
  }
}

async function run(
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

const reader = new FrameReader()
for await (const bytes of Deno.stdin.readable) {
  for (const frame of reader.push(bytes)) {
    if ('message' in frame) receive(frame.message as ToPlugin)
    else sessions.get(frame.session)?.audio?.push(frame.samples)
  }
}
// The role is gone.
ending.abort()
Deno.exit(0)

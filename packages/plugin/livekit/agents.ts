/**
 * What a plugin's packages get as `@livekit/agents` in Patchbay's sandbox: of its interfaces (1.8) what speech over HTTP and WebSockets
 * uses. LiveKit's own brings native code, which the sandbox doesn't run. Retries are Patchbay's: here each attempt is one, and its
 * error is thrown where its events are read.
 */
import { EventEmitter } from 'node:events'
import type { AudioFrame } from './audio.ts'

export * from './audio.ts'

export class APIError extends Error {
  override name = 'APIError'
  body: unknown
  constructor(message: string, { body = null }: { body?: unknown } = {}) {
    super(message)
    this.body = body
  }
}

interface ErrorInit {
  message?: string
  options?: { statusCode?: number; body?: unknown; retryable?: boolean }
}

export class APIStatusError extends APIError {
  override name = 'APIStatusError'
  statusCode: number
  constructor({ message = 'API error.', options = {} }: ErrorInit) {
    super(message, options)
    this.statusCode = options.statusCode ?? -1
  }
}

export class APIConnectionError extends APIError {
  override name = 'APIConnectionError'
  constructor({ message = 'Connection error.', options = {} }: ErrorInit = {}) {
    super(message, options)
  }
}

export class APITimeoutError extends APIConnectionError {
  override name = 'APITimeoutError'
}

export const DEFAULT_API_CONNECT_OPTIONS = { maxRetry: 0, retryIntervalMs: 0, timeoutMs: 10_000 }
export const intervalForRetry = (): number => 0
export const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)))
export const shortuuid = (prefix = ''): string => prefix + crypto.randomUUID().replaceAll('-', '').slice(0, 12)
export const normalizeLanguage = (language: string): string => language
export const asLanguageCode = normalizeLanguage
export const getBaseLanguage = (language = ''): string => language.split('-')[0]?.toLowerCase() ?? ''
export const createTimedString = <T extends object>(timed: T): T => timed

const LEVELS = ['debug', 'info', 'warn', 'error'] as const
type Log = Record<(typeof LEVELS)[number], (...parts: unknown[]) => void> & { child(): Log }
const logger = {
  ...Object.fromEntries(LEVELS.map((level) => [level, (...parts: unknown[]) => console[level](...parts)])),
  child: () => logger,
} as Log
export const log = (): Log => logger

// biome-ignore lint/complexity/noStaticOnlyClass: plugins extend it
export class Plugin {
  static registerPlugin(): void {}
}

export class Future<T = void> {
  readonly #settled = Promise.withResolvers<T>()
  done = false
  constructor() {
    this.#settled.promise.catch(() => undefined)
  }
  readonly await = this.#settled.promise
  resolve(value: T): void {
    this.done = true
    this.#settled.resolve(value)
  }
  reject(error: unknown): void {
    this.done = true
    this.#settled.reject(error)
  }
}

export class Task<T> {
  readonly #controller: AbortController
  readonly result: Promise<T>
  private constructor(run: (controller: AbortController) => Promise<T>, controller: AbortController) {
    this.#controller = controller
    this.result = run(controller)
    this.result.catch(() => undefined)
  }
  static from<T>(run: (controller: AbortController) => Promise<T>, controller = new AbortController()): Task<T> {
    return new Task(run, controller)
  }
  readonly cancel = (): void => this.#controller.abort()
}

export const waitForAbort = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })

export function waitForWebSocketOpen(ws: EventEmitter & { close(): void }, provider: string): Promise<void> {
  return new Promise((resolve, reject) => {
    ws.once('open', resolve)
    ws.once('unexpected-response', (_request, { statusCode = -1 }) => {
      ws.on('error', () => undefined)
      ws.close()
      const message = `${provider} WebSocket connection rejected with status ${statusCode}`
      reject(new APIStatusError({ message, options: { statusCode } }))
    })
    ws.once('error', (error) => reject(error))
    ws.once('close', () => reject(new APIConnectionError({ message: `${provider} closed the connection` })))
  })
}

/** A queue with one reader. */
export class AsyncIterableQueue<T> {
  readonly #items: T[] = []
  #wake: () => void = () => undefined
  closed = false
  put(item: T): void {
    if (this.closed) throw new Error('Queue is closed')
    this.#items.push(item)
    this.#wake()
  }
  close(): void {
    this.closed = true
    this.#wake()
  }
  async next(): Promise<IteratorResult<T, undefined>> {
    while (this.#items.length === 0) {
      if (this.closed) return { value: undefined, done: true }
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    return { value: this.#items.shift() as T, done: false }
  }
  [Symbol.asyncIterator](): this {
    return this
  }
}

export const stream = {
  createStreamChannel() {
    const { readable, writable } = new TransformStream({}, { highWaterMark: 1e6 }, { highWaterMark: 1e6 })
    const writer = writable.getWriter()
    const channel = {
      closed: false,
      write: (chunk: unknown) => writer.write(chunk),
      stream: () => readable,
      close: async () => {
        channel.closed = true
        await writer.close().catch(() => undefined)
      },
    }
    return channel
  },
}

interface PoolOptions<T> {
  connectCb(timeoutMs: number): Promise<T>
  closeCb?(connection: T): Promise<void>
}

/** Connections that are kept between sentences. One that is not open any longer is taken out by its own `remove`. */
export class ConnectionPool<T> {
  readonly #options: PoolOptions<T>
  readonly #idle: T[] = []
  readonly #all = new Set<T>()
  constructor(options: PoolOptions<T>) {
    this.#options = options
  }
  prewarm(): void {}
  async get(timeoutMs: number): Promise<T> {
    const kept = this.#idle.pop()
    if (kept !== undefined) return kept
    const made = await this.#options.connectCb(timeoutMs)
    this.#all.add(made)
    return made
  }
  put(connection: T): void {
    if (this.#all.has(connection)) this.#idle.push(connection)
  }
  remove(connection: T): void {
    if (!this.#all.delete(connection)) return
    const at = this.#idle.indexOf(connection)
    if (at >= 0) this.#idle.splice(at, 1)
    this.#options.closeCb?.(connection).catch(() => undefined)
  }
  invalidate(): void {
    for (const connection of [...this.#all]) this.remove(connection)
  }
  async withConnection<R>(
    use: (connection: T) => Promise<R>,
    { timeout = DEFAULT_API_CONNECT_OPTIONS.timeoutMs, signal }: { timeout?: number; signal?: AbortSignal } = {},
  ): Promise<R> {
    const connection = await this.get(timeout)
    try {
      const aborted = signal && waitForAbort(signal).then(() => Promise.reject(new Error('The operation was aborted.')))
      const result = await (aborted === undefined ? use(connection) : Promise.race([use(connection), aborted]))
      this.put(connection)
      return result
    } catch (error) {
      this.remove(connection)
      throw error
    }
  }
  readonly close = async (): Promise<void> => this.invalidate()
}

/** One attempt of a provider: what goes in, what comes out, and its end. */
class Attempt<In, Out> {
  static readonly FLUSH_SENTINEL = Symbol('FLUSH_SENTINEL')
  static readonly END_OF_STREAM = Symbol('END_OF_STREAM')
  readonly input = new AsyncIterableQueue<In | symbol>()
  readonly queue = new AsyncIterableQueue<Out | symbol>()
  readonly abortController = new AbortController()
  readonly abortSignal = this.abortController.signal
  readonly connOptions = DEFAULT_API_CONNECT_OPTIONS
  readonly logger = logger
  closed = false
  startTimeOffset = 0
  #failure: unknown
  constructor(signal?: AbortSignal) {
    signal?.addEventListener('abort', () => this.close(), { once: true })
    // The class that extends it is made first.
    setTimeout(async () => {
      try {
        if (!this.closed) await this.run()
      } catch (error) {
        this.#failure = error
      } finally {
        this.queue.close()
      }
    }, 0)
  }
  async run(): Promise<void> {}
  markStarted(): void {}
  noteProviderRequestId(): void {}
  setTokenUsage(): void {}
  flush(): void {
    this.input.put(Attempt.FLUSH_SENTINEL)
  }
  endInput(): void {
    this.input.close()
  }
  close(): void {
    this.closed = true
    this.input.close()
    this.queue.close()
    this.abortController.abort()
  }
  async next(): Promise<IteratorResult<Out | symbol, undefined>> {
    const next = await this.queue.next()
    if (next.done === true && this.#failure !== undefined && !this.closed) throw this.#failure
    return next
  }
  [Symbol.asyncIterator](): this {
    return this
  }
}

class TTS extends EventEmitter {
  readonly sampleRate: number
  readonly numChannels: number
  readonly capabilities: object
  constructor(sampleRate: number, numChannels: number, capabilities: object) {
    super()
    this.sampleRate = sampleRate
    this.numChannels = numChannels
    this.capabilities = capabilities
  }
  async close(): Promise<void> {}
}

class ChunkedStream extends Attempt<never, { frame: AudioFrame }> {
  readonly inputText: string
  constructor(text: string, _tts: TTS, _connOptions?: unknown, signal?: AbortSignal) {
    super(signal)
    this.inputText = text
  }
}

class SynthesizeStream extends Attempt<string, { frame: AudioFrame }> {
  constructor(_tts: TTS, _connOptions?: unknown) {
    super()
  }
  pushText(text: string): void {
    this.input.put(text)
  }
}

export const tts = { TTS, ChunkedStream, SynthesizeStream }

class STT extends EventEmitter {
  capabilities: object
  constructor(capabilities: object) {
    super()
    this.capabilities = capabilities
  }
  async close(): Promise<void> {}
}

const SpeechEventType = {
  ...{ START_OF_SPEECH: 0, INTERIM_TRANSCRIPT: 1, FINAL_TRANSCRIPT: 2 },
  ...{ END_OF_SPEECH: 3, RECOGNITION_USAGE: 4, PREFLIGHT_TRANSCRIPT: 5 },
} as const

class SpeechStream extends Attempt<AudioFrame, { type: number }> {
  readonly neededSampleRate: number | undefined
  constructor(_stt: STT, sampleRate?: number, _connOptions?: unknown) {
    super()
    this.neededSampleRate = sampleRate
  }
  pushFrame(frame: AudioFrame): void {
    if (!this.input.closed) this.input.put(frame)
  }
}

export const stt = { STT, SpeechStream, SpeechEventType }

/** Patchbay gives one sentence at a time: it is one token. */
class WholeText {
  stream(): object {
    const queue = new AsyncIterableQueue<{ token: string; segmentId: string }>()
    let text = ''
    const flush = (): void => {
      if (text.trim() !== '' && !queue.closed) queue.put({ token: text, segmentId: shortuuid() })
      text = ''
    }
    return {
      ...{ flush, close: () => queue.close(), next: () => queue.next() },
      pushText(more: string) {
        text += more
      },
      endInput() {
        flush()
        queue.close()
      },
      [Symbol.asyncIterator]: () => queue,
    }
  }
  readonly tokenize = (text: string): string[] => [text]
}

export const tokenize = { basic: { SentenceTokenizer: WholeText, WordTokenizer: WholeText } }

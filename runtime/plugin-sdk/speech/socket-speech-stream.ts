import { type APIConnectOptions, DEFAULT_API_CONNECT_OPTIONS, stt } from '@livekit/agents'
import type { WebSocket } from 'ws'
import { boundary } from '../../lib/async/boundary.ts'
import { ProviderError, type ProviderFailure, type ProviderIdentity } from '../provider-error.ts'
import { apiErrorOf } from './api-error.ts'
import { type HeardWords, RecognitionStream } from './recognition-stream.ts'
import { closeNow, openSocket, type SocketAddress } from './socket.ts'

/** What a provider's messages lead to. */
export interface Hearing {
  started(): void
  interim(words: HeardWords): void
  final(words: HeardWords): void
  /** Final words, with which the provider's own judgement ends the turn. */
  turnEnd(words: HeardWords): void
  /** The turn is probably over: these are its words, should it be. */
  eagerEnd(words: HeardWords): void
  /** It was not. */
  resumed(words: HeardWords): void
  ended(): void
  /** Nothing more will come. */
  done(): void
  failed(failure: ProviderFailure): void
}

/** How a provider is spoken to over one connection. */
export interface RecognitionProtocol {
  readonly address: SocketAddress
  /** Rate of the audio it takes: 16-bit mono. */
  readonly sampleRateHz: number
  /** First messages of a connection. */
  readonly hello?: readonly string[]
  /** Messages that have to be sent before the next audio. */
  beforeAudio?(): readonly string[]
  audio(samples: Int16Array): string | Uint8Array
  /** Said when there is no more audio: the provider gives its last words, then `done` or closes. */
  finish(): readonly (string | Uint8Array)[]
  /** Understands one message. What it throws, such as on malformed JSON, is the message's fault: it is skipped. */
  read(message: string, hearing: Hearing): void
  /** The server closes after the end of the audio, as it was asked: the last chance for words. */
  closing?(hearing: Hearing): void
  /** What a close of the server's means; undefined where its code says nothing. */
  closed?(code: number, reason: string): ProviderFailure | undefined
  readonly keepAlive?: { everyMs: number; message: string }
}

const CHUNK_MS = 50
/** Audio kept while a connection is being opened; the oldest is dropped. */
const MAX_WAITING_MS = 10_000
/** How long a provider may take for its last words after the end of input. */
const DRAIN_TIMEOUT_MS = 5_000
const MAX_MALFORMED = 20
/** RFC 6455, 7.4.1: the connection was cut without a close frame. */
const ABNORMAL_CLOSE = 1006

interface SocketSttOptions {
  provider: ProviderIdentity
  /** A protocol for each connection: it may keep the state of one. */
  protocol: () => RecognitionProtocol
  language: string
  connOptions?: APIConnectOptions | undefined
}

/** A running recognition over a provider's WebSocket; for STT classes to return from `stream`. */
export class SocketSpeechStream extends RecognitionStream {
  readonly #options: SocketSttOptions
  readonly #timeoutMs: number
  #waiting: Int16Array[] = []
  #waitingSamples = 0
  #send: ((samples: Int16Array) => void) | undefined
  #inputEnd: Promise<void> | undefined

  constructor(owner: stt.STT, options: SocketSttOptions) {
    super(owner, options)
    this.#options = options
    this.#timeoutMs = options.connOptions?.timeoutMs ?? DEFAULT_API_CONNECT_OPTIONS.timeoutMs
  }

  protected override async run(): Promise<void> {
    const { provider } = this.#options
    const protocol = this.#options.protocol()
    // One reader for all attempts: audio that comes between two of them waits for the next.
    this.#inputEnd ??= this.#takeInput(protocol.sampleRateHz)
    let socket: WebSocket | undefined
    try {
      socket = await openSocket(provider, protocol.address, { timeoutMs: this.#timeoutMs, signal: this.abortSignal })
      await this.#recognise(socket, protocol, this.#inputEnd)
    } catch (error) {
      if (this.abortSignal.aborted) return
      throw apiErrorOf(provider, error)
    } finally {
      this.#send = undefined
      if (socket !== undefined) closeNow(socket)
      this.speechEnded()
      this.reportUsage()
    }
  }

  async #recognise(socket: WebSocket, protocol: RecognitionProtocol, inputEnd: Promise<void>): Promise<void> {
    const { provider } = this.#options
    const over = Promise.withResolvers<void>()
    over.promise.catch(() => {})
    let finishing = false
    let malformed = 0
    const onAbort = () => over.resolve()
    const hearing = this.#hearing(over)
    socket.on(
      'message',
      boundary('provider', (data) => {
        try {
          protocol.read(String(data), hearing)
        } catch {
          if (++malformed > MAX_MALFORMED) over.reject(new Error('it sent messages that make no sense'))
        }
      }),
    )
    socket.on(
      'close',
      boundary('provider', (code, reason) => {
        if (finishing && code !== ABNORMAL_CLOSE) {
          protocol.closing?.(hearing)
          over.resolve()
        } else {
          const told = protocol.closed?.(code, String(reason))
          over.reject(
            told ? new ProviderError(told) : { message: `the connection closed with ${code} ${reason}`.trim() },
          )
        }
      }),
    )
    this.abortSignal.addEventListener('abort', onAbort, { once: true })
    const { keepAlive } = protocol
    const heartbeat =
      keepAlive &&
      setInterval(
        boundary('provider', () => socket.send(keepAlive.message)),
        keepAlive.everyMs,
      )
    let drain: NodeJS.Timeout | undefined
    try {
      for (const message of protocol.hello ?? []) socket.send(message)
      this.#connect((samples) => {
        for (const message of protocol.beforeAudio?.() ?? []) socket.send(message)
        socket.send(protocol.audio(samples))
      })
      inputEnd.then(() => {
        if (this.abortSignal.aborted) return
        finishing = true
        for (const message of protocol.finish()) socket.send(message)
        drain = setTimeout(over.resolve, DRAIN_TIMEOUT_MS)
      }, over.reject)
      await over.promise
    } catch (error) {
      throw error instanceof Error ? error : apiErrorOf(provider, error)
    } finally {
      clearInterval(heartbeat)
      clearTimeout(drain)
      this.abortSignal.removeEventListener('abort', onAbort)
    }
  }

  /** Takes the audio in chunks of the protocol's rate until there is no more. */
  async #takeInput(sampleRateHz: number): Promise<void> {
    const chunkSamples = Math.round((sampleRateHz * CHUNK_MS) / 1000)
    for await (const samples of this.samples(sampleRateHz, chunkSamples)) this.#give(samples, sampleRateHz)
  }

  #give(samples: Int16Array, sampleRateHz: number): void {
    if (this.#send !== undefined) {
      this.#send(samples)
      return
    }
    this.#waiting.push(samples)
    this.#waitingSamples += samples.length
    while (this.#waitingSamples > (sampleRateHz * MAX_WAITING_MS) / 1000) {
      this.#waitingSamples -= this.#waiting.shift()?.length ?? this.#waitingSamples
    }
  }

  #connect(send: (samples: Int16Array) => void): void {
    this.#send = send
    for (const samples of this.#waiting.splice(0)) send(samples)
    this.#waitingSamples = 0
  }

  #hearing(over: { resolve(): void; reject(reason: unknown): void }): Hearing {
    const { INTERIM_TRANSCRIPT, PREFLIGHT_TRANSCRIPT, FINAL_TRANSCRIPT } = stt.SpeechEventType
    return {
      started: () => this.speechStarted(),
      interim: (words) => this.words(INTERIM_TRANSCRIPT, words),
      final: (words) => this.words(FINAL_TRANSCRIPT, words),
      turnEnd: (words) => {
        this.words(FINAL_TRANSCRIPT, words, { type: 'end_of_turn' })
        this.speechEnded()
      },
      eagerEnd: (words) => this.words(PREFLIGHT_TRANSCRIPT, words, { type: 'eager_end_of_turn' }),
      resumed: (words) => this.words(INTERIM_TRANSCRIPT, words, { type: 'turn_resumed' }),
      ended: () => this.speechEnded(),
      done: () => over.resolve(),
      failed: (failure) => over.reject(new ProviderError(failure)),
    }
  }
}

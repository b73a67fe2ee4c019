import { randomUUID } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { APIConnectionError, type APIConnectOptions, APIError, tts, voice } from '@livekit/agents'
import type { WebSocket } from 'ws'
import { boundary } from '../../lib/async/boundary.ts'
import { ProviderError, type ProviderFailure, type ProviderIdentity } from '../provider-error.ts'
import { apiErrorOf } from './api-error.ts'
import { FrameWriter } from './frame-writer.ts'
import { SampleReader } from './pcm.ts'
import type { CountsCharacters } from './sentence-tts.ts'
import { SentenceBuffer } from './sentences.ts'
import { closeNow } from './socket.ts'
import type { SocketPool } from './socket-pool.ts'

export interface TimedWord {
  text: string
  startS: number
  endS: number
}

/** What a provider's messages lead to. */
export interface Speaking {
  /** 16-bit little-endian mono samples at the voice's rate; may be cut anywhere. */
  audio(bytes: Uint8Array): void
  /** When words are said, from the utterance's beginning. */
  words(words: readonly TimedWord[]): void
  /** All of the utterance was spoken. */
  done(): void
  failed(failure: ProviderFailure): void
}

/** How a provider is spoken to. `id` tells the utterances of one connection apart. */
export interface SpeechProtocol {
  readonly sampleRateHz: number
  /** Said before the first sentence of an utterance. */
  begin?(id: string): string
  say(id: string, sentence: string): string
  /** No more text belongs to the utterance. */
  finish(id: string): string | readonly string[]
  /** Stops an utterance. Without it the connection is closed. */
  cancel?(id: string): string
  /** Said now and then while an utterance waits for more text, where the provider ends one that has to wait. */
  readonly keepAlive?: { everyMs: number; message(id: string): string }
  /** Understands one message. What it throws, such as on malformed JSON, is the message's fault: it is skipped. */
  read(data: Buffer, isBinary: boolean, id: string, speaking: Speaking): void
}

interface SocketTtsOptions {
  provider: ProviderIdentity
  protocol: SpeechProtocol
  pool: SocketPool
  language: string
  connOptions?: APIConnectOptions | undefined
}

/** Text between two flushes: spoken as one utterance. */
interface Segment {
  sentences: string[]
  complete: boolean
}

const MAX_MALFORMED = 20

/** A running synthesis over a provider's WebSocket; for TTS classes to return from `stream`. */
export class SocketSynthesizeStream extends tts.SynthesizeStream implements CountsCharacters {
  readonly label: string
  askedCharacters = 0
  asking: (() => void) | undefined
  readonly #options: SocketTtsOptions
  readonly #segments: Segment[] = []
  #changed: () => void = () => {}
  #reading: Promise<void> | undefined
  #inputDone = false
  /** Segments that were spoken to their end. */
  #spoken = 0
  /** All audio made so far. */
  #samples = 0

  constructor(owner: tts.TTS, options: SocketTtsOptions) {
    super(owner, options.connOptions)
    this.label = `${owner.label}.SynthesizeStream`
    this.#options = options
    // The handshake happens while the language model still thinks about its first sentence.
    options.pool.prewarm()
  }

  protected override async run(): Promise<void> {
    // One reader for all attempts: what was not heard yet is said again by the next one.
    this.#reading ??= this.#read()
    for (;;) {
      const segment = this.#segments[this.#spoken]
      const [first] = segment?.sentences ?? []
      if (this.abortSignal.aborted) return
      if (segment !== undefined && first !== undefined) await this.#speak(segment)
      else if (segment?.complete !== true) {
        if (this.#inputDone) break
        await this.#change()
        continue
      }
      this.#spoken++
      // The base class counts a segment when it meets its last frame; the next must not have begun by then.
      await setImmediate()
    }
    if (!this.abortSignal.aborted) this.queue.put(tts.SynthesizeStream.END_OF_STREAM)
  }

  /** Cuts the text into sentences as it comes. */
  async #read(): Promise<void> {
    const buffer = new SentenceBuffer(this.#options.language)
    let open: Segment | undefined
    const add = (sentences: readonly string[]) => {
      if (sentences.length === 0) return
      if (open === undefined) {
        open = { sentences: [], complete: false }
        this.#segments.push(open)
      }
      open.sentences.push(...sentences)
      this.#changed()
    }
    const flush = () => {
      add(buffer.flush())
      if (open !== undefined) open.complete = true
      open = undefined
    }
    for await (const item of this.input) {
      if (typeof item === 'string') add(buffer.push(item))
      else flush()
      this.#changed()
    }
    flush()
    this.#inputDone = true
    this.#changed()
  }

  /** Resolves when there is more text, no more text, or the stream is closed. */
  #change(): Promise<void> {
    return new Promise((resolve) => {
      const done = boundary('provider', () => {
        this.abortSignal.removeEventListener('abort', done)
        resolve()
      })
      this.#changed = done
      this.abortSignal.addEventListener('abort', done, { once: true })
      if (this.abortSignal.aborted) done()
    })
  }

  async #speak(segment: Segment): Promise<void> {
    const { pool, protocol, provider } = this.#options
    const id = randomUUID()
    const frames = new FrameWriter(this.queue, protocol.sampleRateHz, id)
    const fromS = this.#samples / protocol.sampleRateHz
    let heard = false
    let socket: WebSocket | undefined
    const write = (samples: Int16Array) => {
      heard = true
      this.#samples += samples.length
      frames.write(samples)
    }
    const time = (words: readonly TimedWord[]) =>
      frames.time(
        words.map(({ text, startS, endS }) =>
          voice.createTimedString({ text, startTime: fromS + startS, endTime: fromS + endS }),
        ),
      )
    try {
      socket = await pool.take(this.connOptions.timeoutMs, this.abortSignal)
      await this.#utter(socket, segment, id, write, time)
      socket.removeAllListeners('message').removeAllListeners('close')
      const whole = !this.abortSignal.aborted
      if (whole) frames.end()
      else if (protocol.cancel === undefined) return closeNow(socket)
      else socket.send(protocol.cancel(id))
      pool.give(socket)
    } catch (error) {
      if (socket !== undefined) closeNow(socket)
      if (this.abortSignal.aborted) return
      const judged = apiErrorOf(provider, error)
      // Another attempt would say again what was heard already.
      if (heard && judged instanceof APIError && judged.retryable) {
        throw new APIConnectionError({ message: judged.message, options: { retryable: false } })
      }
      throw judged
    }
  }

  /** Has the segment spoken while its text still comes. Ends at `done`, or when the stream is closed. */
  async #utter(
    socket: WebSocket,
    segment: Segment,
    id: string,
    write: (samples: Int16Array) => void,
    time: (words: readonly TimedWord[]) => void,
  ): Promise<void> {
    const { protocol } = this.#options
    const over = Promise.withResolvers<void>()
    over.promise.catch(() => {})
    const samples = new SampleReader()
    let malformed = 0
    let watchdog: NodeJS.Timeout | undefined
    let finished = false
    const expect = () => {
      clearTimeout(watchdog)
      watchdog = setTimeout(() => over.reject({ code: 'ETIMEDOUT', message: '' }), this.connOptions.timeoutMs)
    }
    const speaking: Speaking = {
      audio: (bytes) => {
        // While the model still writes, a pause between two sentences is nothing to worry about.
        if (finished) expect()
        else clearTimeout(watchdog)
        if (!this.abortSignal.aborted) write(samples.push(bytes))
      },
      words: (words) => {
        if (!this.abortSignal.aborted) time(words)
      },
      done: () => {
        if (finished) over.resolve()
      },
      failed: (failure) => over.reject(new ProviderError(failure)),
    }
    socket.on(
      'message',
      boundary('provider', (data, isBinary) => {
        try {
          protocol.read(data as Buffer, isBinary, id, speaking)
        } catch {
          if (++malformed > MAX_MALFORMED) over.reject(new Error('it sent messages that make no sense'))
        }
      }),
    )
    socket.on('close', (code) => over.reject({ message: `the connection closed with ${code}` }))
    const onAbort = () => over.resolve()
    this.abortSignal.addEventListener('abort', onAbort, { once: true })
    let heartbeat: NodeJS.Timeout | undefined
    const { keepAlive } = protocol
    const give = async () => {
      for (let next = 0; !this.abortSignal.aborted; ) {
        const sentence = segment.sentences[next]
        if (sentence !== undefined) {
          this.markStarted()
          if (next === 0 && protocol.begin !== undefined) socket.send(protocol.begin(id))
          heartbeat ??=
            keepAlive &&
            setInterval(
              boundary('provider', () => socket.send(keepAlive.message(id))),
              keepAlive.everyMs,
            )
          this.askedCharacters += sentence.length
          this.asking?.()
          socket.send(protocol.say(id, sentence))
          expect()
          next++
        } else if (segment.complete) {
          finished = true
          clearInterval(heartbeat)
          for (const message of [protocol.finish(id)].flat()) socket.send(message)
          return expect()
        } else await this.#change()
      }
    }
    try {
      give().catch(over.reject)
      await over.promise
    } finally {
      clearTimeout(watchdog)
      clearInterval(heartbeat)
      this.abortSignal.removeEventListener('abort', onAbort)
    }
  }
}

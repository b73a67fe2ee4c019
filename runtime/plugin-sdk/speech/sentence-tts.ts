import { type APIConnectOptions, tts } from '@livekit/agents'
import type { SpeaksLanguages } from '../../plugin/contract.ts'
import { FrameWriter } from './frame-writer.ts'
import { SentenceBuffer } from './sentences.ts'

/** A stream that hands its text on sentence by sentence, and knows how much of it the voice was asked for. */
export interface CountsCharacters {
  readonly askedCharacters: number
  /** Called when they have become more, before the voice is asked. */
  asking: (() => void) | undefined
}

/** What speaks one sentence: mono samples at the voice's rate. */
export type SpeakSentence = (text: string, signal: AbortSignal) => AsyncIterable<Int16Array<ArrayBuffer>>

/** A voice: where its samples come from, and what it is called. */
export interface Voice {
  provider: string
  name: string
  language: string
  sampleRateHz: number
  speak: SpeakSentence
  /** The same voice in another language; undefined where it stays as it is. */
  inLanguage?(tag: string): Voice | undefined
  /** Opens the connection of the first sentence beforehand. */
  prewarm?(): void
  /** The call is over. */
  dispose?(): void
}

/** A text-to-speech engine that speaks sentence by sentence: the first is heard while the next is still being written. */
export class SentenceTTS extends tts.TTS implements SpeaksLanguages {
  readonly label: string
  #voice: Voice

  constructor(voice: Voice) {
    super(voice.sampleRateHz, 1, { streaming: true })
    this.label = `${voice.provider}.TTS`
    this.#voice = voice
  }

  override get model(): string {
    return this.#voice.name
  }

  override get provider(): string {
    return this.#voice.provider
  }

  prewarm(): void {
    this.#voice.prewarm?.()
  }

  speakIn(language: string): void {
    this.#voice = this.#voice.inLanguage?.(language) ?? this.#voice
  }

  override synthesize(text: string, connOptions?: APIConnectOptions, abortSignal?: AbortSignal): tts.ChunkedStream {
    return new SentenceChunks(this, this.#voice, text, connOptions, abortSignal)
  }

  override stream(options?: { connOptions?: APIConnectOptions }): tts.SynthesizeStream {
    return new SentenceStream(this, this.#voice, options?.connOptions)
  }

  override async close(): Promise<void> {
    this.#voice.dispose?.()
    await super.close()
  }
}

class SentenceChunks extends tts.ChunkedStream {
  readonly label: string
  readonly #owner: tts.TTS
  readonly #voice: Voice

  constructor(
    owner: tts.TTS,
    voice: Voice,
    text: string,
    connOptions: APIConnectOptions | undefined,
    abortSignal: AbortSignal | undefined,
  ) {
    super(text, owner, connOptions, abortSignal)
    this.label = `${voice.provider}.ChunkedStream`
    this.#owner = owner
    this.#voice = voice
  }

  protected override async run(): Promise<void> {
    const frames = new FrameWriter(this.queue, this.#voice.sampleRateHz)
    const sentences = new SentenceBuffer(this.#voice.language)
    try {
      for (const sentence of [...sentences.push(this.inputText), ...sentences.flush()]) {
        for await (const samples of this.#voice.speak(sentence, this.abortSignal)) frames.write(samples)
      }
    } catch (error) {
      this.#report(error)
    }
    frames.end()
  }

  /** The base class leaves a rejected `run` unhandled, which would end the process: it is emitted as an error instead. */
  #report(thrown: unknown): void {
    const error = thrown instanceof Error ? thrown : new Error(String(thrown))
    if (this.#owner.listenerCount('error') === 0) return
    this.#owner.emit('error', {
      type: 'tts_error',
      timestamp: Date.now(),
      label: this.#owner.label,
      error,
      recoverable: false,
    })
  }
}

class SentenceStream extends tts.SynthesizeStream implements CountsCharacters {
  readonly label: string
  askedCharacters = 0
  asking: (() => void) | undefined
  readonly #voice: Voice

  constructor(owner: tts.TTS, voice: Voice, connOptions: APIConnectOptions | undefined) {
    super(owner, connOptions)
    this.label = `${voice.provider}.SynthesizeStream`
    this.#voice = voice
  }

  protected override async run(): Promise<void> {
    const sentences = new SentenceBuffer(this.#voice.language)
    let frames = new FrameWriter(this.queue, this.#voice.sampleRateHz)
    const speak = async (texts: readonly string[]) => {
      for (const text of texts) {
        if (this.abortSignal.aborted) return
        this.markStarted()
        this.askedCharacters += text.length
        this.asking?.()
        for await (const samples of this.#voice.speak(text, this.abortSignal)) frames.write(samples)
      }
    }
    for await (const item of this.input) {
      if (this.abortSignal.aborted) return
      if (typeof item === 'string') {
        await speak(sentences.push(item))
        continue
      }
      await speak(sentences.flush())
      frames.end()
      frames = new FrameWriter(this.queue, this.#voice.sampleRateHz)
    }
    await speak(sentences.flush())
    if (this.abortSignal.aborted) return
    frames.end()
    this.queue.put(tts.SynthesizeStream.END_OF_STREAM)
  }
}

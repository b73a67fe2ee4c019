import { setImmediate } from 'node:timers/promises'
import { APIConnectionError, tokenize, tts, voice } from '@livekit/agents'
import { AudioFrame } from '@livekit/rtc-node'
import { boundary, inBackground } from '../../lib/async/boundary.ts'
import { Resampler } from '../../media/dsp/resample.ts'
import type { SpeaksLanguages } from '../../plugin/contract.ts'
import { type PronouncedWord, Pronunciation } from '../../plugin-sdk/speech/pronunciation.ts'
import { hasWords, piecesOf } from '../../plugin-sdk/speech/sentences.ts'
import type { Candidate, Chain } from '../providers/chain.ts'
import { beforeRetry, MAX_TRIES, PATIENCE, StageTimeout, within } from '../providers/patience.ts'
import { StreamFailure } from '../providers/stream-failure.ts'
import { ReadAloud } from './read-aloud.ts'
import { SpokenText } from './spoken-text.ts'

const ONCE = { maxRetry: 0, retryIntervalMs: 0, timeoutMs: 8_000 }
/** So many letters without sound are more than a synthesiser waits for. */
const MAX_SILENT_CHARACTERS = 200
const POLL_MS = 100
/** A voice is given no more at a time. */
const MAX_PIECE_CHARS = 600

const unheeded = (): void => undefined

type Piece = tts.SynthesizedAudio | typeof tts.SynthesizeStream.END_OF_STREAM

/**
 * The voices of an agent as one. Where nothing was heard yet, a failure is tried again and then the next voice speaks;
 * where something was, the next voice goes on with the sentence that was cut. LiveKit's own adapter ends a reply that
 * fails after its first sound, and knows nothing of other sessions' failures.
 */
export class ResilientTts extends tts.TTS {
  #language: string | undefined
  override readonly label: string
  readonly chain: Chain<tts.TTS>
  readonly random: () => number
  readonly pronunciation: readonly PronouncedWord[]
  /** The language that is spoken at the moment: a tag. */
  readonly tag: () => string

  constructor(
    chain: Chain<tts.TTS>,
    random: () => number,
    pronunciation: readonly PronouncedWord[] = [],
    tag: () => string = () => 'en',
  ) {
    const { first } = chain
    const every = chain.candidates.map(({ instance }) => instance.capabilities)
    super(first.sampleRate, first.numChannels, {
      streaming: true,
      alignedTranscript: every.some(({ alignedTranscript }) => alignedTranscript === true),
    })
    this.label = first.label
    this.chain = chain
    this.random = random
    this.pronunciation = pronunciation
    this.tag = tag
    // Once, however many answers have a chain of their own with the voice in it.
    for (const { instance } of chain.candidates) instance.off('error', unheeded).on('error', unheeded)
  }

  override get model(): string {
    return this.chain.first.model
  }

  override get provider(): string {
    return this.chain.first.provider
  }

  /** What is said from now on is in this language (a tag), for voices that know several. */
  speakIn(language: string): void {
    if (language === this.#language) return
    this.#language = language
    for (const { instance } of this.chain.candidates) (instance as Partial<SpeaksLanguages>).speakIn?.(language)
  }

  override synthesize(...options: Parameters<tts.TTS['synthesize']>): tts.ChunkedStream {
    return this.chain.first.synthesize(...options)
  }

  override stream(): tts.SynthesizeStream {
    return new ResilientStream(this)
  }
}

class ResilientStream extends tts.SynthesizeStream {
  override readonly label: string
  readonly #owner: ResilientTts
  /** All text of this stream so far, and whether more may come. */
  #text = ''
  #complete = false
  #more = Promise.withResolvers<void>()
  /** Where the running attempt began in the text, and what of it is heard by now. */
  #from = 0
  #heardMs = 0
  /** What all attempts made so far, and the part of it that those before the running one did. */
  #spokenMs = 0
  #beforeMs = 0

  constructor(owner: ResilientTts) {
    super(owner, ONCE)
    this.#owner = owner
    this.label = owner.label
  }

  protected override async run(): Promise<void> {
    const { chain, random } = this.#owner
    inBackground('provider', this.#read())
    const order = chain.order()
    for (const [i, candidate] of order.entries()) {
      for (let tries = 1; ; tries++) {
        this.#heardMs = 0
        this.#beforeMs = this.#spokenMs
        try {
          chain.began(candidate)
          await this.#speak(candidate, order.length > 1)
          if (this.abortSignal.aborted) return
          if (hasWords(this.#text)) chain.succeeded(candidate)
          if (!this.queue.closed) this.queue.put(tts.SynthesizeStream.END_OF_STREAM)
          return
        } catch (error) {
          if (this.abortSignal.aborted) return
          const failure = chain.failed(candidate, error, order[i + 1])
          const spoke = this.#heardMs > 0
          this.#from = this.#resumeAt()
          if (spoke || !failure.retryable || tries >= MAX_TRIES) break
          if (order[i + 1] !== undefined && failure.fault === 'rate_limit') break
          await beforeRetry(random, this.abortSignal).catch(() => undefined)
          if (this.abortSignal.aborted) return
        }
      }
    }
    throw new APIConnectionError({ message: chain.lastFailure ?? 'No voice', options: { retryable: false } })
  }

  async #read(): Promise<void> {
    const pronunciation = new Pronunciation(this.#owner.pronunciation)
    const reading = new ReadAloud(this.#owner.tag())
    for await (const piece of this.input) {
      if (typeof piece !== 'string') continue
      this.markStarted()
      this.#text += reading.push(pronunciation.push(piece))
      this.#changed()
    }
    this.#text += reading.push(pronunciation.flush()) + reading.flush()
    this.#complete = true
    this.#changed()
  }

  #changed(): void {
    this.#more.resolve()
    this.#more = Promise.withResolvers()
  }

  async #speak({ instance }: Candidate<tts.TTS>, backed: boolean): Promise<void> {
    const adapter = instance.capabilities.streaming
      ? undefined
      : new tts.StreamAdapter(instance, new tokenize.basic.SentenceTokenizer())
    const stream = (adapter ?? instance).stream({ connOptions: ONCE })
    const over = new AbortController()
    const close = boundary('provider', (): void => stream.close())
    const failure = new StreamFailure(instance, stream)
    this.abortSignal.addEventListener('abort', close, { once: true })
    const fed = { upTo: this.#from }
    inBackground('provider', this.#feed(stream, fed, over.signal, adapter !== undefined))
    const resample = resamplerTo(this.#owner.sampleRate)
    try {
      for (;;) {
        const { done, value } = await this.#next(stream, fed, backed)
        if (done || value === undefined) break
        if (value === tts.SynthesizeStream.END_OF_STREAM) continue
        const lengthMs = (value.frame.samplesPerChannel * 1000) / value.frame.sampleRate
        this.#heardMs += lengthMs
        if (!this.queue.closed) this.queue.put({ ...value, ...this.#later(value), frame: resample(value.frame) })
        this.#spokenMs += lengthMs
      }
      await failure.check()
      if (this.#heardMs === 0 && hasWords(this.#text.slice(this.#from)))
        throw new StageTimeout('The voice said nothing')
    } finally {
      over.abort()
      failure.stop()
      this.abortSignal.removeEventListener('abort', close)
      close()
      await adapter?.close()
    }
  }

  /** Word timings, which a voice counts from its own beginning, in the audio of all. */
  #later({ timedTranscripts }: tts.SynthesizedAudio): Pick<tts.SynthesizedAudio, 'timedTranscripts'> {
    if (timedTranscripts === undefined || this.#beforeMs === 0) return {}
    const laterS = this.#beforeMs / 1000
    const moved = timedTranscripts.map((word) =>
      voice.createTimedString({
        ...word,
        ...(typeof word.startTime === 'number' ? { startTime: word.startTime + laterS } : {}),
        ...(typeof word.endTime === 'number' ? { endTime: word.endTime + laterS } : {}),
      }),
    )
    return { timedTranscripts: moved }
  }

  /** Hands the text on as it comes. */
  async #feed(stream: tts.SynthesizeStream, fed: { upTo: number }, over: AbortSignal, holds: boolean): Promise<void> {
    let unbrokenChars = 0
    while (!over.aborted && !this.abortSignal.aborted) {
      const more = this.#more.promise
      if (fed.upTo < this.#text.length) {
        const text = this.#text.slice(fed.upTo)
        for (const piece of piecesOf(text, MAX_PIECE_CHARS)) {
          fed.upTo += piece.length
          stream.pushText(piece)
          unbrokenChars = SENTENCE_END.test(piece) ? 0 : unbrokenChars + piece.length
          // LiveKit's tokenizer looks at all it holds with each piece.
          if (holds && (unbrokenChars >= MAX_PIECE_CHARS || /\u2029\s*$/u.test(piece))) {
            stream.flush()
            unbrokenChars = 0
          }
          if (piece.length === text.length) break
          // Other calls of this worker speak meanwhile.
          await setImmediate()
          if (over.aborted || this.abortSignal.aborted) return
        }
        continue
      }
      if (this.#complete) {
        stream.endInput()
        return
      }
      await more
    }
  }

  /** The next audio. Time counts only while the voice owes some. */
  async #next(stream: tts.SynthesizeStream, fed: { upTo: number }, backed: boolean): Promise<IteratorResult<Piece>> {
    const of = this.#heardMs === 0 ? PATIENCE.ttsFirstAudioMs : PATIENCE.ttsNextAudioMs
    const limitMs = backed ? of.backed : of.alone
    const coming = stream.next()
    let owedMs = 0
    for (;;) {
      try {
        return await within(POLL_MS, 'The voice', coming)
      } catch (error) {
        if (!(error instanceof StageTimeout)) throw error
        const characters = this.#text.slice(this.#from, fed.upTo).trim().length
        const owes = this.#complete ? characters > 0 : characters * 60 - this.#heardMs > MAX_SILENT_CHARACTERS * 60
        owedMs = owes ? owedMs + POLL_MS : 0
        if (owedMs >= limitMs) throw new StageTimeout(`The voice took over ${limitMs} ms`)
      }
    }
  }

  /** Start of the sentence that was cut: to hear some words twice beats losing some. */
  #resumeAt(): number {
    if (this.#heardMs === 0) return this.#from
    const spoken = new SpokenText()
    const rest = this.#text.slice(this.#from)
    spoken.add(rest)
    const heard =
      rest.indexOf(spoken.heardBy(this.#heardMs, undefined)) + spoken.heardBy(this.#heardMs, undefined).length
    const ends = [...rest.slice(0, heard).matchAll(/[.!?…。！？]["')\]]*\s+/gu)]
    const last = ends.at(-1)
    return this.#from + (last === undefined ? 0 : last.index + last[0].length)
  }
}

const SENTENCE_END = /[.!?…。！？]["')\]]*\s*$/u

/** Resamples every voice to the rate of the first, which downstream was configured with. */
function resamplerTo(rateHz: number): (frame: AudioFrame) => AudioFrame {
  let resampler: { from: number; to: Resampler } | undefined
  return (frame) => {
    if (frame.sampleRate === rateHz) return frame
    if (resampler?.from !== frame.sampleRate) {
      resampler = { from: frame.sampleRate, to: new Resampler(frame.sampleRate, rateHz) }
    }
    const samples = resampler.to.push(frame.data).slice()
    const made = new AudioFrame(samples, rateHz, 1, samples.length)
    Object.assign(made.userdata, frame.userdata)
    return made
  }
}

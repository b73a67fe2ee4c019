import { setImmediate } from 'node:timers/promises'
import { APIConnectionError, tokenize, tts, voice } from '@livekit/agents'
import { AudioFrame } from '@livekit/rtc-node'
import { boundary, inBackground } from '../../lib/async/boundary.ts'
import { Resampler } from '../../media/dsp/resample.ts'
import type { SpeaksLanguages } from '../../plugin/contract.ts'
import { type PronouncedWord, Pronunciation } from '../../plugin-sdk/speech/pronunciation.ts'
import type { CountsCharacters } from '../../plugin-sdk/speech/sentence-tts.ts'
import { hasWords, piecesOf } from '../../plugin-sdk/speech/sentences.ts'
import type { Candidate, Chain } from '../providers/chain.ts'
import { beforeRetry, MAX_TRIES, PATIENCE, StageTimeout, within } from '../providers/patience.ts'
import { StreamFailure } from '../providers/stream-failure.ts'
import { endOfPart, ReadAhead } from './read-ahead.ts'
import { ReadAloud } from './read-aloud.ts'
import { SpokenText } from './spoken-text.ts'

const ONCE = { maxRetry: 0, retryIntervalMs: 0, timeoutMs: 8_000 }
/** So many letters without sound are more than a synthesiser waits for. */
const MAX_SILENT_CHARACTERS = 200
const POLL_MS = 100
/** A voice is given no more at a time. */
const MAX_PIECE_CHARS = 600
/** Where a voice goes on with a long text: before the caller has heard all that it made. */
const LOW_MS = 3_000

const unheeded = (): void => undefined

/** What of the text a voice was given, and whether that is all it is to say. */
interface Given {
  upTo: number
  isAll: boolean
}

interface TtsOptions {
  pronunciation?: readonly PronouncedWord[]
  tag?: () => string
  asked?: (more: number) => void
  spent?: (characters: number) => void
}

type Piece = tts.SynthesizedAudio | typeof tts.SynthesizeStream.END_OF_STREAM

/**
 * The voices of an agent as one. Where nothing was heard yet, a failure is tried again and then the next voice speaks;
 * where something was, the next voice goes on with the sentence that was cut. LiveKit's own adapter ends a reply that
 * fails after its first sound, and knows nothing of other sessions' failures. A long text is spoken part by part, the next
 * when the last is nearly over (ReadAhead): what is cut off was not paid for.
 */
export class ResilientTts extends tts.TTS {
  #language: string | undefined
  override readonly label: string
  readonly chain: Chain<tts.TTS>
  readonly random: () => number
  readonly pronunciation: readonly PronouncedWord[]
  /** The language that is spoken at the moment: a tag. */
  readonly tag: () => string
  /** A voice is about to be given so many characters, or has been, and `spent` was called. */
  readonly asked: (more: number) => void
  /** A voice was given so many characters that are paid for. */
  readonly spent: (characters: number) => void

  constructor(
    chain: Chain<tts.TTS>,
    random: () => number,
    { pronunciation = [], tag = () => 'en', asked = () => undefined, spent = () => undefined }: TtsOptions = {},
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
    this.asked = asked
    this.spent = spent
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
  readonly #ahead = new ReadAhead()

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
        try {
          await this.#speakAll(candidate, order.length > 1)
          if (this.abortSignal.aborted) return
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

  /** Has a voice say the rest of the text, part by part. */
  async #speakAll(candidate: Candidate<tts.TTS>, backed: boolean): Promise<void> {
    const { chain } = this.#owner
    for (;;) {
      this.#heardMs = 0
      this.#beforeMs = this.#spokenMs
      chain.began(candidate)
      const upTo = await this.#speak(candidate, backed)
      if (this.abortSignal.aborted) return
      if (hasWords(this.#text.slice(this.#from, upTo))) chain.succeeded(candidate)
      if (upTo === undefined) return
      this.#from = upTo
      if (this.#complete && this.#text.slice(upTo).trim() === '') return
      await this.#ahead.low(LOW_MS, this.abortSignal)
      if (this.abortSignal.aborted) return
    }
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

  /** Has a voice say a part of the text. Returns where the part ends; undefined: the voice was over before. */
  async #speak({ instance, speaksByItself = false }: Candidate<tts.TTS>, backed: boolean): Promise<number | undefined> {
    const adapter = instance.capabilities.streaming
      ? undefined
      : new tts.StreamAdapter(instance, new tokenize.basic.SentenceTokenizer())
    const stream = (adapter ?? instance).stream({ connOptions: ONCE })
    const over = new AbortController()
    const close = boundary('provider', (): void => stream.close())
    const failure = new StreamFailure(instance, stream)
    this.abortSignal.addEventListener('abort', close, { once: true })
    const given: Given = { upTo: this.#from, isAll: false }
    const endOf = speaksByItself ? undefined : () => this.#endOfPart(given)
    let hasFailed = true
    const counts = stream as tts.SynthesizeStream & Partial<CountsCharacters>
    const characters = () => counts.askedCharacters ?? given.upTo - this.#from
    let told = 0
    const tell = () => {
      const more = characters() - told
      // What a model says by itself counts as its own.
      if (more <= 0 || speaksByItself) return
      told += more
      this.#owner.asked(more)
    }
    counts.asking = tell
    inBackground('provider', this.#feed(stream, given, endOf, over.signal, adapter !== undefined))
    const resample = resamplerTo(this.#owner.sampleRate)
    try {
      for (;;) {
        const { done, value } = await this.#next(stream, given, backed)
        if (done || value === undefined) break
        if (value === tts.SynthesizeStream.END_OF_STREAM) continue
        tell()
        const lengthMs = (value.frame.samplesPerChannel * 1000) / value.frame.sampleRate
        this.#heardMs += lengthMs
        const frame = resample(value.frame)
        this.#ahead.made(frame)
        if (!this.queue.closed) this.queue.put({ ...value, ...this.#later(value), frame })
        this.#spokenMs += lengthMs
      }
      await failure.check()
      if (this.#heardMs === 0 && hasWords(this.#text.slice(this.#from, given.upTo)))
        throw new StageTimeout('The voice said nothing')
      hasFailed = false
      return given.isAll ? given.upTo : undefined
    } finally {
      // Who failed without a sound asks nothing for it.
      const isPaid = this.#heardMs > 0 || !hasFailed || this.abortSignal.aborted
      if (isPaid && !speaksByItself) this.#owner.spent(characters())
      counts.asking = undefined
      if (told > 0) this.#owner.asked(-told)
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

  /** Hands the text on as it comes, to the end of a part. */
  async #feed(
    stream: tts.SynthesizeStream,
    given: Given,
    endOf: (() => number | undefined) | undefined,
    over: AbortSignal,
    holds: boolean,
  ): Promise<void> {
    let unbrokenChars = 0
    while (!over.aborted && !this.abortSignal.aborted) {
      const more = this.#more.promise
      const end = endOf?.()
      const text = this.#text.slice(given.upTo, end)
      if (text !== '') {
        for (const piece of piecesOf(text, MAX_PIECE_CHARS)) {
          given.upTo += piece.length
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
      if (this.#complete || end !== undefined) {
        given.isAll = true
        stream.endInput()
        return
      }
      await more
    }
  }

  #endOfPart({ upTo }: Given): number | undefined {
    const end = endOfPart(this.#text.slice(this.#from), upTo - this.#from, this.#owner.tag())
    return end === undefined ? undefined : this.#from + end
  }

  /** The next audio. Time counts only while the voice owes some. */
  async #next(stream: tts.SynthesizeStream, given: Given, backed: boolean): Promise<IteratorResult<Piece>> {
    const of = this.#heardMs === 0 ? PATIENCE.ttsFirstAudioMs : PATIENCE.ttsNextAudioMs
    const limitMs = backed ? of.backed : of.alone
    const coming = stream.next()
    let owedMs = 0
    for (;;) {
      try {
        return await within(POLL_MS, 'The voice', coming)
      } catch (error) {
        if (!(error instanceof StageTimeout)) throw error
        const characters = this.#text.slice(this.#from, given.upTo).trim().length
        const owes = given.isAll ? characters > 0 : characters * 60 - this.#heardMs > MAX_SILENT_CHARACTERS * 60
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

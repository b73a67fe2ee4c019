import { ReadableStream } from 'node:stream/web'
import { setTimeout as sleep } from 'node:timers/promises'
import { stt } from '@livekit/agents'
import { AudioFrame } from '@livekit/rtc-node'
import { boundary, inBackground } from '../../lib/async/boundary.ts'
import type { Clock } from '../../lib/clock.ts'
import { cleanText } from '../../lib/text.ts'
import { RecentSamples } from '../../media/recent-samples.ts'
import { type Preparing, signalOf } from '../../plugin-sdk/speech/signal.ts'
import type { Candidate, Chain } from '../providers/chain.ts'
import { MODEL_RATE_HZ } from '../providers/models.ts'
import type { InboundAudio } from './inbound-audio.ts'
import {
  answerLimitMs,
  expectsMore,
  NOTHING_HEARD,
  owesWords,
  type RecognitionEffect,
  type RecognitionEvent,
  recognitionDueAtMs,
  recognitionStep,
  type Span,
} from './recognition.ts'
import { SpeechPackets } from './speech-packets.ts'
import type { VoiceActivity } from './voice-activity.ts'

/** A recogniser that ends or fails is opened again, or the next one is, after these waits, the last one again and again. */
const RESTART_DELAYS_MS = [0, 100, 250, 1000, 2000]
/** How long a call may continue without a recogniser before it is given up. */
const GIVE_UP_AFTER_MS = 60_000
/** A recogniser that lived this long failed for a new reason: the waits start over. */
const HEALTHY_AFTER_MS = 10_000
/** Least time for a request or a connection. */
const MIN_TIMEOUT_MS = 5_000
const SAMPLES_PER_MS = MODEL_RATE_HZ / 1000
/** Speech that was not understood yet, kept for the recogniser that takes over: what a worker is given of a call it takes over, and more. */
const MAX_KEPT_SAMPLES = 35 * MODEL_RATE_HZ
/** Of silence, only what may be the start of a word. */
const KEPT_SILENCE_SAMPLES = 0.4 * MODEL_RATE_HZ
/** What is kept goes to a recogniser in packets of this. */
const KEPT_PACKET_SAMPLES = 0.1 * MODEL_RATE_HZ
/** Of one utterance, and of what a recogniser says about itself: more is a fault of its own. */
const MAX_WORDS_CHARS = 10_000
const MAX_SIGNAL_CHARS = 500

/** Words, and what of the recogniser's own is known of them. */
export interface Words {
  text: string
  final: boolean
  language: string | undefined
  /** The recogniser itself says that they end the caller's turn. */
  endsTurn: boolean
  /** Where the sound ends that they are of, as the recogniser has it. */
  untilMs: number | undefined
}

/** What the rest of the conversation is told; the other effects are the recogniser's own. */
export type HeardEffect = Exclude<RecognitionEffect, { type: 'prepare' | 'hears' | 'forget' | 'give_up' }>

export interface RecogniserEvents {
  /** The agent's voice is on the line now. */
  agentSpeaks(): boolean
  /** These are the agent's own words, come back on the line. */
  isEcho(text: string): boolean
  /** Words over the agent's speech say "go on", or have to wait. */
  isOverSpeech(text: string): boolean
  /** What became of what the caller said, and the words that it is about, if any. */
  happened(effect: HeardEffect, words: Words | undefined): void
  /** An answer to the words so far is worth preparing, or not yet. */
  prepares(on: boolean): void
  /** None will be had: the keys or the accounts are the reason, or it took too long. */
  failed(): void
}

interface RecogniserOptions {
  chain: Chain<stt.STT>
  inbound: InboundAudio
  voice: VoiceActivity
  clock: Clock
  events: RecogniserEvents
  signal: AbortSignal
}

/**
 * Speech to text for one conversation: feeds the recogniser straight from InboundAudio, opens it or the next one again when
 * it fails or hangs, with the words it still owed, and keeps from the session what is no turn while the agent speaks. What is
 * known of the words and what is waited for is decided by recognition.ts.
 */
export class Recogniser {
  readonly #chain: Chain<stt.STT>
  readonly #inbound: InboundAudio
  readonly #voice: VoiceActivity
  readonly #clock: Clock
  readonly #events: RecogniserEvents
  readonly #signal: AbortSignal
  #state = NOTHING_HEARD
  #timer: NodeJS.Timeout | undefined
  #controller: ReadableStreamDefaultController<stt.SpeechEvent> | undefined
  #started = false
  /** Audio not understood yet. */
  readonly #kept = new RecentSamples()
  /** Gives the running recogniser up. */
  #giveUp: (() => void) | undefined
  /** One that was given up for its silence; its successor's words convict it. */
  #suspect: Candidate<stt.STT> | undefined
  /** Final words that go to the session with the next turn of the event loop. */
  #finals: stt.SpeechEvent | undefined
  #settling: (() => void)[] = []

  constructor({ chain, inbound, voice, clock, events, signal }: RecogniserOptions) {
    this.#chain = chain
    this.#inbound = inbound
    this.#voice = voice
    this.#clock = clock
    this.#events = events
    this.#signal = signal
    const close = boundary('provider', () => {
      clearTimeout(this.#timer)
      this.#settle()
    })
    signal.addEventListener('abort', close, { once: true })
    for (const { instance } of chain.candidates) instance.on('error', () => undefined)
  }

  /** The session's STT node. The recogniser starts with the first call and runs until the conversation closes. */
  stream(): ReadableStream<stt.SpeechEvent> {
    return new ReadableStream<stt.SpeechEvent>({
      start: (controller) => {
        this.#controller = controller
        if (this.#started) return
        this.#started = true
        inBackground('provider', this.#run())
      },
      cancel: () => {
        this.#controller = undefined
      },
    })
  }

  /** The caller began to speak, there in their audio. */
  speechStarted(startMs: number): void {
    this.#suspect = undefined
    this.#step({ type: 'speech_started', startMs })
  }

  /** The caller spoke until then, and fell silent. */
  speechEnded(endMs: number): void {
    this.#step({ type: 'speech_ended', endMs })
  }

  /** Resolves when no words of finished speech are on their way any more; undefined: none are. */
  settled(): Promise<void> | undefined {
    if (this.#signal.aborted || !owesWords(this.#state, this.#clock.monotonicMs())) return undefined
    return new Promise((resolve) => this.#settling.push(resolve))
  }

  #step(event: RecognitionEvent, from?: { candidate: Candidate<stt.STT>; words: Words }): void {
    if (this.#signal.aborted) return
    const nowMs = this.#clock.monotonicMs()
    const { state, effects } = recognitionStep(this.#state, event, nowMs)
    this.#state = state
    for (const effect of effects) this.#do(effect, from)
    clearTimeout(this.#timer)
    const dueAtMs = recognitionDueAtMs(this.#state, nowMs)
    if (dueAtMs !== undefined) {
      const tick = boundary('provider', () => this.#step({ type: 'tick' }))
      this.#timer = setTimeout(tick, Math.max(1, Math.ceil(dueAtMs - nowMs)))
    }
    // The words themselves go to the session with the next turn of the event loop: it has taken them by the one after it.
    if (this.#settling.length > 0 && !owesWords(this.#state, nowMs))
      setImmediate(boundary('provider', () => setImmediate(boundary('provider', () => this.#settle()))))
  }

  #do(effect: RecognitionEffect, from?: { candidate: Candidate<stt.STT>; words: Words }): void {
    switch (effect.type) {
      case 'prepare':
        if (!this.#isOverSpeech(effect.text)) this.#emit(preflight(effect.text))
        return
      case 'hears':
        if (from !== undefined) this.#succeeded(from.candidate)
        return
      case 'forget':
        this.#kept.keepLast(Math.max(0, (this.#inbound.heardMs - effect.upToMs) * SAMPLES_PER_MS))
        return
      case 'give_up':
        this.#giveUp?.()
        return
      default:
        this.#events.happened(effect, from?.words)
    }
  }

  async #run(): Promise<void> {
    const leave = this.#inbound.listen((samples) => this.#keep(samples))
    this.#signal.addEventListener('abort', boundary('provider', leave), { once: true })
    const { candidates } = this.#chain
    /** Whose key or account is refused. */
    const hopeless = new Set<Candidate<stt.STT>>()
    let attempt = 0
    let avoid: Candidate<stt.STT> | undefined
    while (!this.#signal.aborted) {
      const startedMs = this.#clock.monotonicMs()
      const order = this.#chain.order()
      const candidate = order.find((one) => one !== avoid) ?? order[0]!
      let failure: unknown = new Error('The recogniser ended by itself')
      let hung = false
      try {
        this.#chain.began(candidate)
        hung = await this.#recognise(candidate)
      } catch (error) {
        failure = error
      }
      if (this.#signal.aborted) return
      const nowMs = this.#clock.monotonicMs()
      if (nowMs - startedMs > HEALTHY_AFTER_MS) attempt = 0
      const next = order.find((one) => one !== candidate) ?? candidate
      avoid = candidate
      if (hung) this.#suspect = candidate
      else this.#chain.failed(candidate, failure, next)
      this.#step({ type: 'closed', hung })
      if (hung) continue
      if (this.#chain.hopeless) hopeless.add(candidate)
      else hopeless.delete(candidate)
      const goneMs = nowMs - (this.#state.unavailableSinceMs ?? nowMs)
      if (hopeless.size === candidates.length || goneMs >= GIVE_UP_AFTER_MS) {
        this.#events.failed()
        return
      }
      await pause(RESTART_DELAYS_MS[Math.min(attempt++, RESTART_DELAYS_MS.length - 1)]!, this.#signal)
    }
  }

  /** Runs one recogniser to its end. True when it was given up because it said nothing. */
  async #recognise(candidate: Candidate<stt.STT>): Promise<boolean> {
    const { instance } = candidate
    const { streaming, interimResults } = instance.capabilities
    const interims = streaming && interimResults
    const backed = this.#chain.order().length > 1
    const { ready } = instance as Partial<Preparing>
    this.#step({ type: 'opened', interims, backed, preparing: ready !== undefined })
    const prepared = boundary('provider', () => this.#step({ type: 'prepared' }))
    ready?.then(prepared, prepared)
    const source = streaming ? instance : new stt.StreamAdapter(instance, this.#voice)
    // A slow server is given as long as its answer may take: what is asked for again makes it slower.
    const timeoutMs = interims ? MIN_TIMEOUT_MS : Math.max(MIN_TIMEOUT_MS, answerLimitMs(this.#state))
    const stream = source.stream({ connOptions: { maxRetry: 0, retryIntervalMs: 0, timeoutMs } })
    let failure: unknown
    let hung = false
    const onError = boundary('provider', (event: { error: Error }) => {
      failure = event.error
    })
    const close = boundary('provider', () => stream.close())
    const push = (samples: Int16Array) => {
      try {
        stream.pushFrame(new AudioFrame(samples, MODEL_RATE_HZ, 1, samples.length))
      } catch {
        // The stream closed itself; the loop below ends and says why.
      }
    }
    const packets = new SpeechPackets()
    const send = (samples: Int16Array) => {
      const packet = packets.push(samples, {
        quietMs: this.#inbound.quietMs,
        awaited: this.#isAwaited,
        contested: this.#events.agentSpeaks(),
      })
      if (packet !== undefined) push(packet)
    }
    source.on('error', onError)
    if (source !== instance) source.on('error', () => undefined)
    this.#signal.addEventListener('abort', close, { once: true })
    this.#giveUp = () => {
      hung = true
      close()
    }
    /** Where its time begins. */
    const zeroMs = this.#inbound.heardMs - this.#kept.length / SAMPLES_PER_MS
    for (const samples of this.#kept.pieces(KEPT_PACKET_SAMPLES)) push(samples)
    const leave = this.#inbound.listen(send)
    try {
      for await (const event of stream) this.#take(cleanEvent(event), candidate, zeroMs)
    } finally {
      this.#giveUp = undefined
      leave()
      source.off('error', onError)
      this.#signal.removeEventListener('abort', close)
      stream.close()
    }
    if (!hung && failure !== undefined) throw failure
    return hung
  }

  #take(event: stt.SpeechEvent, candidate: Candidate<stt.STT>, zeroMs: number): void {
    const said = event.alternatives?.[0]
    const text = said?.text.trim() ?? ''
    const final = event.type === stt.SpeechEventType.FINAL_TRANSCRIPT
    const signal = signalOf(event)
    const { heardMs } = this.#inbound
    const span = said && spanOf(said, zeroMs, heardMs)
    const endsTurn = signal?.type === 'end_of_turn'
    const words = { text, final, language: said?.language || undefined, endsTurn, untilMs: span?.endMs }
    const from = { candidate, words }
    switch (event.type) {
      case stt.SpeechEventType.INTERIM_TRANSCRIPT:
      case stt.SpeechEventType.PREFLIGHT_TRANSCRIPT:
      case stt.SpeechEventType.FINAL_TRANSCRIPT: {
        const as = text === '' || this.#isEcho(text) ? 'echo' : this.#isOverSpeech(text) ? 'over_speech' : 'words'
        const { lastSpeechMs } = this.#voice
        this.#step({ type: final ? 'final' : 'interim', text, span, heardMs, lastSpeechMs, as }, from)
        if (as !== 'words') return
        if (!final && this.#events.agentSpeaks()) this.#voice.wordsHeard = true
        break
      }
      default:
        if (signal?.type === 'unknown_sentence')
          this.#step({ type: 'unknown', message: cleanText(signal.message, MAX_SIGNAL_CHARS) }, from)
    }
    this.#emit(event)
  }

  #succeeded(candidate: Candidate<stt.STT>): void {
    this.#chain.succeeded(candidate)
    const suspect = this.#suspect
    this.#suspect = undefined
    if (suspect === undefined || suspect === candidate) return
    const error = Object.assign(new Error('The recogniser said nothing'), { code: 'timeout' })
    this.#chain.failed(suspect, error, candidate)
  }

  #keep(samples: Int16Array): void {
    this.#kept.push(samples, this.#isAwaited ? MAX_KEPT_SAMPLES : KEPT_SILENCE_SAMPLES)
  }

  /** Words are awaited, or the caller speaks. */
  get #isAwaited(): boolean {
    return this.#state.speech.length > 0 || this.#voice.speaking
  }

  #isEcho(text: string): boolean {
    return this.#events.agentSpeaks() && this.#events.isEcho(text)
  }

  #isOverSpeech(text: string): boolean {
    return this.#events.agentSpeaks() && this.#events.isOverSpeech(text)
  }

  /** Final words of one moment are one event: the session drops what comes while it takes a turn. */
  #emit(event: stt.SpeechEvent): void {
    if (event.type !== stt.SpeechEventType.FINAL_TRANSCRIPT) {
      this.#flush()
      this.#enqueue(event)
      return
    }
    if (this.#finals === undefined) setImmediate(boundary('provider', () => this.#flush()))
    this.#finals = this.#finals === undefined ? event : joined(this.#finals, event)
  }

  #flush(): void {
    const finals = this.#finals
    this.#finals = undefined
    if (finals === undefined) return
    this.#events.prepares(!expectsMore(this.#state, this.#clock.monotonicMs()))
    this.#enqueue(finals)
  }

  #enqueue(event: stt.SpeechEvent): void {
    try {
      this.#controller?.enqueue(event)
    } catch {
      this.#controller = undefined
    }
  }

  #settle(): void {
    for (const resolve of this.#settling.splice(0)) resolve()
  }
}

function preflight(text: string): stt.SpeechEvent {
  const language = '' as stt.SpeechData['language']
  return {
    type: stt.SpeechEventType.PREFLIGHT_TRANSCRIPT,
    alternatives: [{ language, text, startTime: 0, endTime: 0, confidence: 1 }],
  }
}

function joined(first: stt.SpeechEvent, second: stt.SpeechEvent): stt.SpeechEvent {
  const [a, b] = [first.alternatives?.[0], second.alternatives?.[0]]
  if (a === undefined || b === undefined) return b === undefined ? first : second
  return { ...second, alternatives: [{ ...b, text: `${a.text} ${b.text}`, startTime: a.startTime }] }
}

/** The sound that words are of, in the run of the caller's audio; undefined: the recogniser does not say, or it is none of ours. */
function spanOf({ startTime, endTime }: stt.SpeechData, zeroMs: number, heardMs: number): Span | undefined {
  const [startMs, endMs] = [zeroMs + startTime * 1000, Math.min(heardMs, zeroMs + endTime * 1000)]
  return startTime >= 0 && startMs < endMs ? { startMs, endMs } : undefined
}

/** Words of any recogniser as the conversation may hold them. The event itself, with its signal, where they are clean. */
function cleanEvent(event: stt.SpeechEvent): stt.SpeechEvent {
  const alternatives = event.alternatives?.map((one) => {
    const text = cleanText(one.text, MAX_WORDS_CHARS)
    return text === one.text ? one : { ...one, text }
  })
  const isClean = alternatives?.every((one, i) => one === event.alternatives?.[i]) ?? true
  return isClean ? event : { ...event, alternatives: alternatives as NonNullable<stt.SpeechEvent['alternatives']> }
}

async function pause(delayMs: number, signal: AbortSignal): Promise<void> {
  await sleep(delayMs, undefined, { signal }).catch(() => undefined)
}

import { ReadableStream } from 'node:stream/web'
import { setTimeout as sleep } from 'node:timers/promises'
import { stt } from '@livekit/agents'
import { AudioFrame } from '@livekit/rtc-node'
import { boundary, inBackground } from '../../lib/async/boundary.ts'
import type { Clock } from '../../lib/clock.ts'
import { cleanText } from '../../lib/text.ts'
import { RecentSamples } from '../../media/recent-samples.ts'
import { type Preparing, type SpeechSignal, signalOf } from '../../plugin-sdk/speech/signal.ts'
import type { Candidate, Chain } from '../providers/chain.ts'
import { MODEL_RATE_HZ } from '../providers/models.ts'
import type { InboundAudio } from './inbound-audio.ts'
import { SpeechPackets } from './speech-packets.ts'
import type { VoiceActivity } from './voice-activity.ts'

/** A recogniser that ends or fails is opened again, or the next one is, after these waits, the last one again and again. */
const RESTART_DELAYS_MS = [0, 100, 250, 1000, 2000]
/** How long a call may continue without a recogniser before it is given up. */
const GIVE_UP_AFTER_MS = 60_000
/** A recogniser that was opened and failed no sooner than this is one. */
const OPENS_WITHIN_MS = 1_500
/** A recogniser that lived this long failed for a new reason: the waits start over. */
const HEALTHY_AFTER_MS = 10_000
/** Speech that was not understood yet, kept for the recogniser that takes over: what a worker is given of a call it takes over, and more. */
const MAX_KEPT_SAMPLES = 35 * MODEL_RATE_HZ
/** Of silence, only what may be the start of a word. */
const KEPT_SILENCE_SAMPLES = 0.4 * MODEL_RATE_HZ
/** What is kept goes to a recogniser in packets of this. */
const KEPT_PACKET_SAMPLES = 0.1 * MODEL_RATE_HZ
/** A recogniser that says nothing of real speech, this long after it ended, hangs. */
const HANGS_AFTER_MS = { withInterims: 2_000, without: 4_000, halfway: 6_000 }
/**
 * Speech without words after this counts as not understood: with and without a recogniser that gives interim words, and where it gave
 * some and not the last: one that is not sure of the end of a turn takes its time.
 */
const NOT_UNDERSTOOD_AFTER_MS = { withInterims: 4_500, without: 8_000, halfway: 9_000 }
const MIN_SPEECH_MS = 400
/** And where the recogniser says itself that it knows no such words. */
const UNKNOWN_AFTER_MS = 800
/** Shorter sounds without words are noises. */
const MIN_NOT_UNDERSTOOD_MS = 700
/** Of one utterance, and of what a recogniser says about itself: more is a fault of its own. */
const MAX_WORDS_CHARS = 10_000
const MAX_SIGNAL_CHARS = 500

/** Words, and what of the recogniser's own is known of them. */
export interface Words {
  text: string
  final: boolean
  language: string | undefined
}

export interface RecogniserEvents {
  /** The agent's voice is on the line now. */
  agentSpeaks(): boolean
  /** These are the agent's own words, come back on the line. */
  isEcho(text: string): boolean
  /** Words over the agent's speech say "go on", or have to wait. */
  isOverSpeech(text: string): boolean
  /** Words so far of the running utterance, or all of it. */
  words(words: Words): void
  /** Words over the agent's speech that are no turn, or none yet. */
  overSpeech(words: Words): void
  /** Words of what was said until then are overdue. */
  overdue(endMs: number): void
  /** No words come of the sound, and none should. */
  noise(): void
  /** No words come of the speech. */
  noWords(speech: {
    startMs: number
    endMs: number
    reason: 'no_words' | 'stt_failed' | 'unknown_sentence'
    /** For an operator: what can be done about it. */
    message?: string
  }): void
  /** No recogniser could be had since then; undefined: one can again. */
  sttUnavailable(sinceMs: number | undefined): void
  /** None will be had: the keys or the accounts are the reason, or it took too long. */
  failed(): void
}

export interface RecogniserOptions {
  chain: Chain<stt.STT>
  inbound: InboundAudio
  voice: VoiceActivity
  clock: Clock
  events: RecogniserEvents
  signal: AbortSignal
}

/**
 * Speech to text for one conversation: feeds the recogniser straight from the ears, opens it or the next one again when
 * it fails or hangs, with the words it still owed, and keeps from the session what is no turn while the agent speaks.
 */
export class Recogniser {
  readonly #chain: Chain<stt.STT>
  readonly #inbound: InboundAudio
  readonly #voice: VoiceActivity
  readonly #clock: Clock
  readonly #events: RecogniserEvents
  readonly #signal: AbortSignal
  #controller: ReadableStreamDefaultController<stt.SpeechEvent> | undefined
  #interim = ''
  #started = false
  /** Audio not understood yet. */
  readonly #kept = new RecentSamples()
  /** Words came of the audio that is kept. */
  #understood = false
  /** End of the speech that was heard when words were last final: a quick recogniser has them before the silence is judged. */
  #finalUpToMs = 0
  /** Speech was heard of which the recogniser still owes the words. */
  #owed = false
  /** The recogniser said of that speech that it can't know its words, and why. */
  #unknown: string | undefined
  /** Start of the speech that is not understood yet. */
  #speechFromMs: number | undefined
  /** Since when no recogniser could be had. */
  #unavailableSinceMs: number | undefined
  #reportedUnavailable = false
  #hangTimer: NodeJS.Timeout | undefined
  #owedTimer: NodeJS.Timeout | undefined
  /** Gives the running recogniser up. */
  #giveUp: (() => void) | undefined
  #interims = true
  /** The running recogniser can't hear yet: its silence says nothing. */
  #preparing = false
  /** Of the speech whose words are awaited. */
  #awaitedEndMs: number | undefined
  /** One that was given up for its silence; its successor's words convict it. */
  #suspect: { candidate: Candidate<stt.STT>; next: Candidate<stt.STT> } | undefined

  constructor({ chain, inbound, voice, clock, events, signal }: RecogniserOptions) {
    this.#chain = chain
    this.#inbound = inbound
    this.#voice = voice
    this.#clock = clock
    this.#events = events
    this.#signal = signal
    signal.addEventListener(
      'abort',
      boundary('provider', () => this.#forget()),
      { once: true },
    )
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

  /** The caller began to speak. */
  speechStarted(atMs: number): void {
    this.#speechFromMs ??= atMs
    clearTimeout(this.#hangTimer)
    clearTimeout(this.#owedTimer)
    this.#awaitedEndMs = undefined
    this.#owed = true
    this.#suspect = undefined
  }

  /** The caller spoke until then, and fell silent: what is known of the words is worth preparing an answer for. */
  speechEnded(endMs: number): void {
    clearTimeout(this.#hangTimer)
    const unheardMs = endMs - Math.max(this.#voice.speechStartMs, this.#finalUpToMs)
    const known = this.#understood && this.#interim === ''
    if (unheardMs >= MIN_SPEECH_MS && !known && this.#unknown === undefined && !this.#signal.aborted) {
      this.#awaitSign(endMs)
    }
    this.#awaitWords(endMs)
    if (this.#interim === '' || this.#isOverSpeech(this.#interim)) return
    this.#emit({
      type: stt.SpeechEventType.PREFLIGHT_TRANSCRIPT,
      alternatives: [
        { language: '' as stt.SpeechData['language'], text: this.#interim, startTime: 0, endTime: 0, confidence: 1 },
      ],
    })
  }

  /** A recogniser that gives no sign that it heard the speech which ended then hangs. */
  #awaitSign(endMs: number): void {
    clearTimeout(this.#hangTimer)
    const { withInterims, without, halfway } = HANGS_AFTER_MS
    const afterMs = this.#interim !== '' ? halfway : this.#interims ? withInterims : without
    const hangs = boundary('provider', () => {
      this.#events.overdue(endMs)
      if (!this.#preparing) this.#giveUp?.()
    })
    this.#hangTimer = setTimeout(hangs, afterMs)
  }

  #awaitWords(endMs: number): void {
    clearTimeout(this.#owedTimer)
    this.#awaitedEndMs = endMs
    const { withInterims, without, halfway } = NOT_UNDERSTOOD_AFTER_MS
    const known = this.#interim !== '' ? halfway : this.#interims ? withInterims : without
    const afterMs = this.#unknown !== undefined ? UNKNOWN_AFTER_MS : known
    this.#owedTimer = setTimeout(
      boundary('provider', () => this.#notUnderstood(endMs)),
      afterMs,
    )
  }

  /** No words came of the speech that ended then. While no recogniser is connected they still may: the audio is kept. */
  #notUnderstood(endMs: number): void {
    const startMs = this.#speechFromMs ?? endMs
    // Awaited anew from the moment it can hear.
    if (this.#preparing) return
    if (this.#unavailableSinceMs !== undefined) {
      this.#owedTimer = setTimeout(
        boundary('provider', () => this.#notUnderstood(endMs)),
        NOT_UNDERSTOOD_AFTER_MS.without,
      )
      if (!this.#reportedUnavailable) this.#events.noWords({ startMs, endMs, reason: 'stt_failed' })
      this.#reportedUnavailable = true
      return
    }
    const unknown = this.#unknown
    const half = this.#interim !== ''
    const understood = unknown === undefined && !half && (this.#understood || this.#finalUpToMs >= startMs)
    this.#interim = ''
    this.#forget()
    // Speech reported by the recogniser counts, however short it is.
    const enoughMs = half ? 0 : unknown === undefined ? MIN_NOT_UNDERSTOOD_MS : MIN_SPEECH_MS
    if (understood || endMs - startMs < enoughMs) this.#events.noise()
    else if (unknown === undefined) this.#events.noWords({ startMs, endMs, reason: 'no_words' })
    else this.#events.noWords({ startMs, endMs, reason: 'unknown_sentence', message: unknown })
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
      const opened = setTimeout(
        boundary('provider', () => this.#hears()),
        OPENS_WITHIN_MS,
      )
      try {
        this.#chain.began(candidate)
        hung = await this.#recognise(candidate)
      } catch (error) {
        failure = error
      } finally {
        clearTimeout(opened)
      }
      if (this.#signal.aborted) return
      const nowMs = this.#clock.monotonicMs()
      if (nowMs - startedMs > HEALTHY_AFTER_MS) attempt = 0
      const next = order.find((one) => one !== candidate) ?? candidate
      avoid = candidate
      if (hung) {
        this.#suspect = { candidate, next }
        continue
      }
      this.#chain.failed(candidate, failure, next)
      if (this.#chain.hopeless) hopeless.add(candidate)
      else hopeless.delete(candidate)
      if (this.#unavailableSinceMs === undefined) {
        this.#unavailableSinceMs = nowMs
        this.#events.sttUnavailable(nowMs)
      }
      if (hopeless.size === candidates.length || nowMs - this.#unavailableSinceMs >= GIVE_UP_AFTER_MS) {
        this.#events.failed()
        return
      }
      await pause(RESTART_DELAYS_MS[Math.min(attempt++, RESTART_DELAYS_MS.length - 1)]!, this.#signal)
    }
  }

  /** The recogniser works. */
  #hears(): void {
    if (this.#unavailableSinceMs === undefined) return
    this.#unavailableSinceMs = undefined
    this.#reportedUnavailable = false
    this.#events.sttUnavailable(undefined)
  }

  /** Runs one recogniser to its end. True when it was given up because it said nothing. */
  async #recognise(candidate: Candidate<stt.STT>): Promise<boolean> {
    const { instance } = candidate
    const source = instance.capabilities.streaming ? instance : new stt.StreamAdapter(instance, this.#voice)
    const stream = source.stream({ connOptions: { maxRetry: 0, retryIntervalMs: 0, timeoutMs: 5000 } })
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
        awaited: this.#owed || this.#voice.speaking,
        contested: this.#events.agentSpeaks(),
      })
      if (packet !== undefined) push(packet)
    }
    source.on('error', onError)
    if (source !== instance) source.on('error', () => undefined)
    this.#signal.addEventListener('abort', close, { once: true })
    this.#interims = instance.capabilities.streaming && instance.capabilities.interimResults
    this.#giveUp = () => {
      hung = true
      close()
    }
    this.#prepare((instance as Partial<Preparing>).ready)
    for (const samples of this.#kept.pieces(KEPT_PACKET_SAMPLES)) push(samples)
    const leave = this.#inbound.listen(send)
    try {
      for await (const event of stream) this.#take(event, candidate)
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

  /** No words are expected until then; audio from the meantime is replayed to it. */
  #prepare(ready: Promise<unknown> | undefined): void {
    this.#preparing = ready !== undefined
    const prepared = () => {
      this.#preparing = false
      const endMs = this.#awaitedEndMs
      if (endMs === undefined || this.#signal.aborted) return
      this.#awaitWords(endMs)
      if (!this.#understood && this.#unknown === undefined) this.#awaitSign(endMs)
    }
    ready?.then(prepared, prepared)
  }

  #take(raw: stt.SpeechEvent, from: Candidate<stt.STT>): void {
    const event = cleanEvent(raw)
    const said = event.alternatives?.[0]
    const text = said?.text.trim() ?? ''
    if (text !== '') this.#heardWords(from)
    const final = event.type === stt.SpeechEventType.FINAL_TRANSCRIPT
    const words = { text, final, language: said?.language || undefined }
    switch (event.type) {
      case stt.SpeechEventType.INTERIM_TRANSCRIPT:
      case stt.SpeechEventType.PREFLIGHT_TRANSCRIPT: {
        if (text === '' || this.#isEcho(text) || this.#isOverSpeech(text)) return
        const isFirst = this.#interim === ''
        this.#interim = text
        this.#events.words(words)
        if (this.#events.agentSpeaks()) this.#voice.wordsHeard = true
        // Words that stay half known are none: their rest is awaited, too, but not for ever.
        if (isFirst && this.#awaitedEndMs !== undefined && !this.#voice.speaking) {
          this.#awaitSign(this.#awaitedEndMs)
          this.#awaitWords(this.#awaitedEndMs)
        }
        break
      }
      case stt.SpeechEventType.FINAL_TRANSCRIPT:
        this.#interim = ''
        if (text === '') return
        this.#finalUpToMs = this.#voice.lastSpeechMs
        this.#forget()
        if (this.#isEcho(text)) return
        if (this.#isOverSpeech(text)) {
          this.#events.overSpeech(words)
          return
        }
        this.#events.words(words)
        break
      default:
        this.#signalled(signalOf(event), from)
    }
    this.#emit(event)
  }

  /** A recogniser that heard speech and can't know its words neither hangs nor will they come. */
  #signalled(signal: SpeechSignal | undefined, from: Candidate<stt.STT>): void {
    if (signal?.type !== 'unknown_sentence') return
    this.#heardWords(from)
    this.#interim = ''
    this.#unknown = cleanText(signal.message, MAX_SIGNAL_CHARS)
    if (!this.#voice.speaking) this.#awaitWords(this.#voice.lastSpeechMs)
  }

  #heardWords(from: Candidate<stt.STT>): void {
    this.#understood = true
    this.#hears()
    clearTimeout(this.#hangTimer)
    this.#chain.succeeded(from)
    const suspect = this.#suspect
    this.#suspect = undefined
    if (suspect === undefined || suspect.candidate === from) return
    const error = Object.assign(new Error('The recogniser said nothing'), { code: 'timeout' })
    this.#chain.failed(suspect.candidate, error, from)
  }

  #keep(samples: Int16Array): void {
    this.#kept.push(samples, this.#owed || this.#voice.speaking ? MAX_KEPT_SAMPLES : KEPT_SILENCE_SAMPLES)
  }

  /** Understood audio is not replayed. */
  #forget(): void {
    this.#kept.clear()
    this.#understood = false
    this.#unknown = undefined
    this.#speechFromMs = undefined
    this.#owed = false
    this.#awaitedEndMs = undefined
    clearTimeout(this.#hangTimer)
    clearTimeout(this.#owedTimer)
  }

  #isEcho(text: string): boolean {
    return this.#events.agentSpeaks() && this.#events.isEcho(text)
  }

  #isOverSpeech(text: string): boolean {
    return this.#events.agentSpeaks() && this.#events.isOverSpeech(text)
  }

  #emit(event: stt.SpeechEvent): void {
    try {
      this.#controller?.enqueue(event)
    } catch {
      this.#controller = undefined
    }
  }
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

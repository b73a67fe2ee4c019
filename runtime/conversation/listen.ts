import { ReadableStream } from 'node:stream/web'
import { stt } from '@livekit/agents'
import { AudioFrame } from '@livekit/rtc-node'
import { isBackchannel } from './barge-in.ts'
import type { Candidate, Chain } from './chain.ts'
import type { Ears } from './ears.ts'
import type { Language } from './languages/language.ts'
import { MODEL_RATE_HZ } from './models.ts'
import type { VoiceActivity } from './voice-activity.ts'

/** A recogniser that ends or fails is opened again, or the next one is, after these waits; then it is given up. */
const RESTART_DELAYS_MS = [0, 100, 250, 1000, 2000]
/** A recogniser that lived this long failed for a new reason: the waits start over. */
const HEALTHY_AFTER_MS = 10_000
/** Speech that was not understood yet, kept for the recogniser that takes over. */
const MAX_KEPT_SAMPLES = 20 * MODEL_RATE_HZ
/** Of silence, only what may be the start of a word. */
const KEPT_SILENCE_SAMPLES = 0.4 * MODEL_RATE_HZ
/** A recogniser that says nothing of real speech, this long after it ended, hangs. */
const HANGS_AFTER_MS = { withInterims: 2_000, without: 4_000 }
/** What nobody understood within this was no speech. */
const OWED_FOR_MS = 8_000
const MIN_SPEECH_MS = 400

export interface ListenEvents {
  /** The agent's voice is on the line now. */
  agentSpeaks(): boolean
  /** What the caller speaks. */
  language(): Language
  /** Words so far of the running utterance. */
  interim(text: string): void
  /** Words of what was said until then are overdue. */
  overdue(endMs: number): void
  /** It was given up that words come of the sound. */
  noWords(): void
  /** The last recogniser failed for the last time. */
  failed(): void
}

/**
 * Speech to text for one conversation: feeds the recogniser straight from the ears, opens it or the next one again when
 * it fails or hangs, with the words it still owed, and keeps from the session what is no turn (backchannels while the
 * agent speaks).
 */
export class Listen {
  readonly #chain: Chain<stt.STT>
  readonly #ears: Ears
  readonly #voice: VoiceActivity
  readonly #events: ListenEvents
  readonly #signal: AbortSignal
  #controller: ReadableStreamDefaultController<stt.SpeechEvent> | undefined
  #interim = ''
  #started = false
  /** Audio not understood yet. */
  #kept: Int16Array[] = []
  #keptSamples = 0
  /** Words came of the audio that is kept. */
  #understood = false
  /** End of the speech that was heard when words were last final: a quick recogniser has them before the silence is judged. */
  #finalUpToMs = 0
  /** Speech was heard of which the recogniser still owes the words. */
  #owed = false
  #hangTimer: NodeJS.Timeout | undefined
  #owedTimer: NodeJS.Timeout | undefined
  /** Gives the running recogniser up. */
  #giveUp: (() => void) | undefined
  #interims = true
  /** One that was given up for its silence; its successor's words convict it. */
  #suspect: { candidate: Candidate<stt.STT>; next: Candidate<stt.STT> } | undefined

  constructor(chain: Chain<stt.STT>, ears: Ears, voice: VoiceActivity, events: ListenEvents, signal: AbortSignal) {
    this.#chain = chain
    this.#ears = ears
    this.#voice = voice
    this.#events = events
    this.#signal = signal
    signal.addEventListener('abort', () => this.#forget(), { once: true })
    for (const { instance } of chain.candidates) instance.on('error', () => undefined)
  }

  /** The session's STT node. The recogniser starts with the first call and runs until the conversation closes. */
  stream(): ReadableStream<stt.SpeechEvent> {
    return new ReadableStream<stt.SpeechEvent>({
      start: (controller) => {
        this.#controller = controller
        if (this.#started) return
        this.#started = true
        void this.#run()
      },
      cancel: () => {
        this.#controller = undefined
      },
    })
  }

  /** The caller began to speak. */
  speechStarted(): void {
    clearTimeout(this.#hangTimer)
    clearTimeout(this.#owedTimer)
    this.#owed = true
    this.#suspect = undefined
  }

  /** The caller spoke until then, and fell silent: what is known of the words is worth preparing an answer for. */
  speechEnded(endMs: number): void {
    clearTimeout(this.#hangTimer)
    const unheardMs = endMs - Math.max(this.#voice.speechStartMs, this.#finalUpToMs)
    if (unheardMs >= MIN_SPEECH_MS && !this.#understood && !this.#signal.aborted) {
      const { withInterims, without } = HANGS_AFTER_MS
      const hangs = () => {
        this.#events.overdue(endMs)
        this.#giveUp?.()
      }
      this.#hangTimer = setTimeout(hangs, this.#interims ? withInterims : without)
    }
    clearTimeout(this.#owedTimer)
    this.#owedTimer = setTimeout(() => {
      this.#forget()
      this.#events.noWords()
    }, OWED_FOR_MS)
    if (this.#interim === '' || this.#dropped(this.#interim)) return
    this.#emit({
      type: stt.SpeechEventType.PREFLIGHT_TRANSCRIPT,
      alternatives: [
        { language: '' as stt.SpeechData['language'], text: this.#interim, startTime: 0, endTime: 0, confidence: 1 },
      ],
    })
  }

  async #run(): Promise<void> {
    const leave = this.#ears.listen((samples) => this.#keep(samples))
    this.#signal.addEventListener('abort', leave, { once: true })
    let attempt = 0
    let avoid: Candidate<stt.STT> | undefined
    while (!this.#signal.aborted) {
      const startedMs = performance.now()
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
      if (performance.now() - startedMs > HEALTHY_AFTER_MS) attempt = 0
      const next = order.find((one) => one !== candidate) ?? candidate
      avoid = candidate
      if (hung) {
        this.#suspect = { candidate, next }
        continue
      }
      const delayMs = RESTART_DELAYS_MS[attempt++]
      this.#chain.failed(candidate, failure, next)
      if (delayMs === undefined) {
        this.#events.failed()
        return
      }
      await new Promise((resolve) => setTimeout(resolve, delayMs))
    }
  }

  /** Runs one recogniser to its end. True when it was given up because it said nothing. */
  async #recognise(candidate: Candidate<stt.STT>): Promise<boolean> {
    const { instance } = candidate
    const source = instance.capabilities.streaming ? instance : new stt.StreamAdapter(instance, this.#voice)
    const stream = source.stream({ connOptions: { maxRetry: 0, retryIntervalMs: 0, timeoutMs: 5000 } })
    let failure: unknown
    let hung = false
    const onError = (event: { error: Error }) => {
      failure = event.error
    }
    const close = () => stream.close()
    const push = (samples: Int16Array) => {
      try {
        // A copy with a buffer of its own: recognisers keep frames, and some send the whole buffer behind one.
        stream.pushFrame(new AudioFrame(samples.slice(), MODEL_RATE_HZ, 1, samples.length))
      } catch {
        // The stream closed itself; the loop below ends and says why.
      }
    }
    source.on('error', onError)
    if (source !== instance) source.on('error', () => undefined)
    this.#signal.addEventListener('abort', close, { once: true })
    this.#interims = instance.capabilities.streaming && instance.capabilities.interimResults
    this.#giveUp = () => {
      hung = true
      close()
    }
    for (const samples of this.#kept) push(samples)
    const leave = this.#ears.listen(push)
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

  #take(event: stt.SpeechEvent, from: Candidate<stt.STT>): void {
    const text = event.alternatives?.[0]?.text.trim() ?? ''
    if (text !== '') this.#heardWords(from)
    switch (event.type) {
      case stt.SpeechEventType.INTERIM_TRANSCRIPT:
      case stt.SpeechEventType.PREFLIGHT_TRANSCRIPT:
        if (text === '' || this.#dropped(text)) return
        this.#interim = text
        if (this.#events.agentSpeaks()) this.#voice.wordsHeard = true
        this.#events.interim(text)
        break
      case stt.SpeechEventType.FINAL_TRANSCRIPT:
        this.#interim = ''
        if (text !== '') this.#finalUpToMs = this.#voice.lastSpeechMs
        this.#forget()
        if (text === '' || this.#dropped(text)) return
        this.#events.interim(text)
        break
      default:
    }
    this.#emit(event)
  }

  #heardWords(from: Candidate<stt.STT>): void {
    this.#understood = true
    clearTimeout(this.#hangTimer)
    this.#chain.succeeded(from)
    const suspect = this.#suspect
    this.#suspect = undefined
    if (suspect === undefined || suspect.candidate === from) return
    const error = Object.assign(new Error('The recogniser said nothing'), { code: 'timeout' })
    this.#chain.failed(suspect.candidate, error, from)
  }

  #keep(samples: Int16Array): void {
    this.#kept.push(samples.slice())
    this.#keptSamples += samples.length
    const most = this.#owed || this.#voice.speaking ? MAX_KEPT_SAMPLES : KEPT_SILENCE_SAMPLES
    while (this.#keptSamples > most) this.#keptSamples -= this.#kept.shift()!.length
  }

  /** What was understood needs nobody to hear it again. */
  #forget(): void {
    this.#kept = []
    this.#keptSamples = 0
    this.#understood = false
    this.#owed = false
    clearTimeout(this.#hangTimer)
    clearTimeout(this.#owedTimer)
  }

  #dropped(text: string): boolean {
    return this.#events.agentSpeaks() && isBackchannel(text, this.#events.language())
  }

  #emit(event: stt.SpeechEvent): void {
    try {
      this.#controller?.enqueue(event)
    } catch {
      this.#controller = undefined
    }
  }
}

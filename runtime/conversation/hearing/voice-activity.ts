import { VAD, type VADEvent, VADEventType, VADStream } from '@livekit/agents'
import type { Clock } from '../../lib/clock.ts'
import { lastLoud } from '../../media/frame.ts'
import { type LocalModels, MODEL_RATE_HZ, VAD_WINDOW_SAMPLES, type Vad } from '../providers/models.ts'
import { floorEvidence, levelOf, nearness } from './barge-in.ts'
import type { InboundAudio } from './inbound-audio.ts'

const WINDOW_MS = (VAD_WINDOW_SAMPLES * 1000) / MODEL_RATE_HZ
const ACTIVATION = 0.5
const DEACTIVATION = 0.35
/** Two windows of speech begin a stretch of speech, four of silence end it. */
const MIN_SPEECH_MS = 2 * WINDOW_MS
const MIN_SILENCE_MS = 4 * WINDOW_MS
/** Windows waiting for the model: 10 s. Beyond, the oldest are dropped and counted. */
const MAX_WAITING_WINDOWS = 320
/** Nothing on the line is louder than -60 dB: below it the model need not run. */
const SILENCE = 32
const NO_FRAMES: VADEvent['frames'] = []
/**
 * In the middle of a sentence nothing turns on a single window: so many are judged at once, for waking the model costs more than
 * its work. A window that is quieter than those before by more than this factor may begin a pause, and is judged now.
 */
const WINDOWS_AT_ONCE = 3
const PAUSE_LEVEL = 0.5
/** Weight of a window in the level of the running speech. */
const LEVEL_WEIGHT = 0.2
/** Weight of a window in the level that the caller usually speaks at: that of some seconds of speech. */
const USUAL_WEIGHT = 0.02

/**
 * Windows that can wait are judged with the next of any session that can't: the threads that run the model are awake then. The process
 * has one pool of them, and so one of these.
 */
const waitingAlong = new Set<() => void>()

interface Window {
  samples: Int16Array
  endMs: number
}

/** What the rest of the conversation wants to know of the caller's voice. Places are milliseconds of the run of their audio. */
interface VoiceListener {
  speechStarted(startMs: number): void
  /** The agent speaks or is about to: a voice would cut it off. */
  contested(): boolean
  speechEnded(endMs: number): void
}

/** Voice activity detection: the Silero model over InboundAudio, as @livekit/agents expects it. */
export class VoiceActivity extends VAD {
  override label = 'patchbay.silero'
  readonly #inbound: InboundAudio
  readonly #models: LocalModels
  readonly #clock: Clock
  readonly #listener: VoiceListener
  /** The caller speaks now, or paused less than 128 ms ago. */
  speaking = false
  /** Start of the present stretch of speech, and end of the last window that held speech. */
  speechStartMs = 0
  lastSpeechMs = 0
  /** Of the caller's sound, what the model was too slow for: milliseconds. */
  droppedMs = 0
  /** Set by what hears words: the stretch of speech is one that takes the floor. */
  wordsHeard = false
  /** The model is done with the caller's sound until then. */
  #judgedMs = 0
  readonly #awaiting = new Set<{ untilMs: number; resolve: () => void }>()

  constructor(inbound: InboundAudio, models: LocalModels, clock: Clock, listener: VoiceListener) {
    super({ updateInterval: WINDOW_MS })
    this.#inbound = inbound
    this.#models = models
    this.#clock = clock
    this.#listener = listener
  }

  override stream(): VADStream {
    const { listen } = this.#inbound
    return new VoiceActivityStream(
      this,
      this.#models.createVad(),
      listen.bind(this.#inbound),
      this.#clock,
      this.#listener,
    )
  }

  /** Resolves when it is known what of the caller's sound until then was speech; undefined: it is known. */
  judged(untilMs: number): Promise<void> | undefined {
    if (this.#judgedMs >= untilMs) return undefined
    return new Promise((resolve) => this.#awaiting.add({ untilMs, resolve }))
  }

  /** The stream is done with the sound until then. */
  doneUntil(ms: number): void {
    this.#judgedMs = ms
    for (const one of this.#awaiting) {
      if (one.untilMs > ms) continue
      this.#awaiting.delete(one)
      one.resolve()
    }
  }
}

class VoiceActivityStream extends VADStream {
  readonly #voice: VoiceActivity
  readonly #model: Vad
  readonly #clock: Clock
  readonly #listener: VoiceListener
  readonly #leave: () => void
  /** The window that is being filled. */
  #window: Int16Array = new Int16Array(VAD_WINDOW_SAMPLES)
  #filled = 0
  #waiting: Window[] = []
  /** Windows that were judged, to be filled anew. */
  readonly #spare: Int16Array[] = []
  #running: Promise<void> | undefined
  #events: VADEvent[] = []
  #reader: ((result: IteratorResult<VADEvent>) => void) | undefined
  #speechMs = 0
  #silenceMs = 0
  #evidenceMs = 0
  /** Of the stretch of speech over the agent's. */
  #loudest = 0
  #windows = 0
  #muted = false
  /** Mean level of the running stretch of speech; 0: none runs. */
  #level = 0
  /** Of what the caller says when it is their turn; 0: nothing yet. */
  #usualLevel = 0

  constructor(voice: VoiceActivity, model: Vad, listen: InboundAudio['listen'], clock: Clock, listener: VoiceListener) {
    super(voice)
    this.#voice = voice
    this.#model = model
    this.#clock = clock
    this.#listener = listener
    this.#leave = listen((samples, endMs) => this.#hear(samples, endMs))
  }

  /** InboundAudio feeds this stream; the session's copy of the audio is not needed. */
  override updateInputStream(): void {}
  override detachInputStream(): void {}
  protected override async monitorMetrics(): Promise<void> {}

  override flush(): void {
    this.#voice.speaking = false
    this.#speechMs = 0
    this.#silenceMs = 0
    this.#evidenceMs = 0
  }

  override next(): Promise<IteratorResult<VADEvent>> {
    const event = this.#events.shift()
    if (event !== undefined) return Promise.resolve({ done: false, value: event })
    if (this.closed) return Promise.resolve({ done: true, value: undefined })
    return new Promise((resolve) => {
      this.#reader = resolve
    })
  }

  override close(): void {
    if (this.closed) return
    this.#leave()
    waitingAlong.delete(this.#start)
    this.closed = true
    this.#waiting = []
    this.#voice.speaking = false
    this.#voice.doneUntil(Number.POSITIVE_INFINITY)
    this.#reader?.({ done: true, value: undefined })
    this.#reader = undefined
  }

  #hear(samples: Int16Array, endMs: number): Promise<void> | undefined {
    for (let at = 0; at < samples.length; ) {
      const piece = samples.subarray(at, at + VAD_WINDOW_SAMPLES - this.#filled)
      this.#window.set(piece, this.#filled)
      this.#filled += piece.length
      at += piece.length
      if (this.#filled < VAD_WINDOW_SAMPLES) break
      const behindMs = ((samples.length - at) * 1000) / MODEL_RATE_HZ
      this.#waiting.push({ samples: this.#window, endMs: endMs - behindMs })
      this.#window = this.#spare.pop() ?? new Int16Array(VAD_WINDOW_SAMPLES)
      this.#filled = 0
    }
    const tooMany = this.#waiting.length - MAX_WAITING_WINDOWS
    if (tooMany > 0) {
      this.#waiting.splice(0, tooMany)
      this.#voice.droppedMs += tooMany * WINDOW_MS
    }
    if (this.#waiting.length === 0) return this.#running
    if (this.#goesOn()) waitingAlong.add(this.#start)
    else this.#startAll()
    return this.#running
  }

  readonly #start = (): void => {
    if (!this.closed && this.#waiting.length > 0) this.#running ??= this.#run()
  }

  #startAll(): void {
    waitingAlong.delete(this.#start)
    this.#start()
    for (const start of waitingAlong) start()
    waitingAlong.clear()
  }

  /** The caller is mid-sentence and the agent is idle: pending windows may be batched. */
  #goesOn(): boolean {
    if (this.#waiting.length >= WINDOWS_AT_ONCE || !this.#voice.speaking || this.#listener.contested()) return false
    return this.#level > 0 && this.#waiting.every(({ samples }) => levelOf(samples) > PAUSE_LEVEL * this.#level)
  }

  async #run(): Promise<void> {
    try {
      // The start is reported before the end.
      await Promise.resolve()
      for (let next = this.#waiting.shift(); next !== undefined && !this.closed; next = this.#waiting.shift()) {
        try {
          const startedMs = this.#clock.monotonicMs()
          const probability = await this.#predict(next.samples)
          if (!this.closed) this.#judge(next, probability, this.#clock.monotonicMs() - startedMs)
        } finally {
          if (!this.closed) this.#voice.doneUntil(next.endMs)
        }
        this.#spare.push(next.samples)
      }
    } catch (error) {
      this.logger.error({ error }, 'voice activity model failed')
    } finally {
      this.#running = undefined
    }
  }

  async #predict(samples: Int16Array): Promise<number> {
    const muted = lastLoud(samples, SILENCE) < 0
    if (muted && this.#muted && !this.#voice.speaking) return 0
    // One silent window still runs, so that the model's state ends in silence.
    this.#muted = muted
    return this.#model.predict(samples)
  }

  #judge({ samples, endMs }: Window, probability: number, inferenceMs: number): void {
    const voice = this.#voice
    this.#windows++
    const isSpeech = probability >= ACTIVATION || (voice.speaking && probability > DEACTIVATION)
    if (isSpeech) {
      this.#speechMs += WINDOW_MS
      this.#silenceMs = 0
      const level = levelOf(samples)
      this.#level = this.#level === 0 ? level : this.#level + LEVEL_WEIGHT * (level - this.#level)
      if (this.#listener.contested()) {
        this.#evidenceMs += WINDOW_MS * floorEvidence(samples, probability)
        this.#loudest = Math.max(this.#loudest, level)
      } else
        this.#usualLevel = this.#usualLevel === 0 ? level : this.#usualLevel + USUAL_WEIGHT * (level - this.#usualLevel)
      voice.lastSpeechMs = endMs
    } else {
      this.#silenceMs += WINDOW_MS
      // Whether it is the end is judged window by window.
      this.#level = 0
      if (!voice.speaking) {
        this.#speechMs = 0
        this.#evidenceMs = 0
        this.#loudest = 0
        voice.wordsHeard = false
      }
    }
    const starts = !voice.speaking && this.#speechMs >= MIN_SPEECH_MS
    if (starts) {
      voice.speaking = true
      voice.speechStartMs = endMs - this.#speechMs
      this.#listener.speechStarted(voice.speechStartMs)
      this.#send(VADEventType.START_OF_SPEECH, probability, inferenceMs)
    }
    // Silence between turns is no news: the session learnt of it by END_OF_SPEECH.
    if (!voice.speaking && !isSpeech) return
    this.#send(VADEventType.INFERENCE_DONE, probability, inferenceMs)
    if (!voice.speaking || isSpeech) return
    if (this.#silenceMs < MIN_SILENCE_MS) return
    voice.speaking = false
    this.#listener.speechEnded(voice.lastSpeechMs)
    this.#send(VADEventType.END_OF_SPEECH, probability, inferenceMs)
    this.#speechMs = 0
    this.#evidenceMs = 0
    this.#loudest = 0
    voice.wordsHeard = false
  }

  #send(type: VADEventType, probability: number, inferenceMs: number): void {
    const voice = this.#voice
    // The session pauses the agent once INFERENCE_DONE reports enough speech: it reports the evidence that the
    // caller wants the floor, not the length of the sound.
    const speechDuration =
      type !== VADEventType.INFERENCE_DONE
        ? this.#speechMs
        : voice.wordsHeard
          ? Number.MAX_SAFE_INTEGER
          : this.#evidenceMs * nearness(this.#loudest, this.#usualLevel)
    this.#emit({
      type,
      samplesIndex: this.#windows * VAD_WINDOW_SAMPLES,
      timestamp: this.#windows * WINDOW_MS,
      speechDuration,
      silenceDuration: this.#silenceMs,
      frames: NO_FRAMES,
      probability,
      inferenceDuration: inferenceMs,
      speaking: voice.speaking,
      rawAccumulatedSilence: this.#silenceMs,
      rawAccumulatedSpeech: this.#silenceMs === 0 ? this.#speechMs : 0,
    })
  }

  #emit(event: VADEvent): void {
    const reader = this.#reader
    if (reader === undefined) {
      this.#events.push(event)
      return
    }
    this.#reader = undefined
    reader({ done: false, value: event })
  }
}

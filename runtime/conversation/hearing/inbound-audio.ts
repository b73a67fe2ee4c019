import { inBackground } from '../../lib/async/boundary.ts'
import type { Clock } from '../../lib/clock.ts'
import { firstLoud, lastLoud, samplesPerFrame } from '../../media/frame.ts'
import { RunMap } from '../../media/line/run-map.ts'
import { MODEL_RATE_HZ } from '../providers/models.ts'
import { SpeechEdges } from './speech-edges.ts'

/** Above this a sample counts as sound: about -44 dB of full scale. */
const LOUD = 200
/**
 * A caller whose packets stopped so many ticks ago is silent, not frozen: what follows is fed silence. Counted in ticks,
 * not in time: after a stall of this process the packets that wait in the socket are read only after the next tick.
 */
const STALLED_AFTER_TICKS = 6
/** Who was in the middle of a word did not fall silent between two packets: they are late, and will come all at once. */
const STALLED_IN_SPEECH_AFTER_TICKS = 50
const IN_SPEECH_MS = 200
/** Heard more than time has passed, by so much: what stood in for packets that came after all is taken out of the pauses. */
const MAX_AHEAD_MS = 100
/** No pause is cut shorter: by then a recogniser knows that the words before it are over. */
const KEPT_PAUSE_MS = 600
const FRAME_SAMPLES = samplesPerFrame(MODEL_RATE_HZ)

/**
 * Takes the caller's audio at 16 kHz. `endMs` is where it ends in the run, in milliseconds. The samples fill a
 * buffer of their own and never change: listeners may keep them. A listener that takes its time returns when
 * it is done: what the caller said before this worker goes no faster.
 */
type AudioListener = (samples: Int16Array, endMs: number) => Promise<void> | undefined | void

/**
 * The caller's audio inside a conversation: one unbroken run of 16 kHz samples, handed to every listener (voice activity,
 * speech to text) as it arrives. Places in it are milliseconds of the run;
 * it knows when each arrived and which of the caller's sound it is. What was said to a worker before is made up for as fast as
 * the listeners go, with the times at which it was said; what arrives meanwhile queues behind it.
 */
export class InboundAudio {
  readonly #clock: Clock
  readonly #listeners = new Set<AudioListener>()
  /** What is made up for, in order. */
  #backlog: { samples: Int16Array; atMs: number; soundMs: number }[] = []
  #catchingUp: Promise<void> | undefined
  #ticksWithoutAudio = 0
  /** A packet has arrived: there is no stall before the first one. */
  #heardAny = false
  /** Of the sound heard, in milliseconds: how much of its end is quiet. */
  #quietMs = Number.POSITIVE_INFINITY
  /** When silence first stood in for packets, and what was heard since; counted anew once nothing came late. */
  #stalledAtMs: number | undefined
  #sinceStallMs = 0
  readonly loudStretches = new SpeechEdges()
  /** Packets jitter: a few milliseconds are no news. */
  readonly #arrivals = new RunMap(5)
  readonly #sounds = new RunMap(1)
  /** The end of the caller's sound by their timestamps; undefined: none came yet. */
  #soundEndMs: number | undefined
  /** All audio heard so far, in milliseconds: the end of the run. */
  heardMs = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  listen(listener: AudioListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** When that place of the run arrived, monotonic. */
  arrivedMs(ms: number): number {
    return this.#arrivals.at(ms) ?? this.#clock.monotonicMs()
  }

  /** Which of the caller's sound that place is, in milliseconds of their timestamps; undefined: none was heard yet. */
  soundMs(ms: number): number | undefined {
    const soundMs = this.#sounds.at(ms)
    // Silence that stands in for packets is no sound of the caller's.
    return soundMs === undefined ? undefined : Math.min(soundMs, this.#soundEndMs ?? soundMs)
  }

  /** Something that was said before is being made up for. */
  get behind(): boolean {
    return this.#catchingUp !== undefined
  }

  /** Resolves when everything that has come was heard. */
  async caughtUp(): Promise<void> {
    await this.#catchingUp
  }

  /**
   * @param saidAtMs when its last sample arrived, where that was long ago
   * @param soundMs its end, by the caller's timestamps
   */
  hear(samples: Int16Array, saidAtMs?: number, soundMs = 0): void {
    if (samples.length === 0) return
    this.#ticksWithoutAudio = 0
    this.#heardAny = true
    const nowMs = this.#clock.monotonicMs()
    if (saidAtMs === undefined && this.#catchingUp === undefined) {
      inBackground('call', this.#take(samples, nowMs, soundMs))
      return
    }
    this.#backlog.push({ samples: ownBuffer(samples), atMs: Math.min(saidAtMs ?? nowMs, nowMs), soundMs })
    if (this.#catchingUp !== undefined) return
    this.#catchingUp = this.#catchUp()
    inBackground('call', this.#catchingUp)
  }

  async #catchUp(): Promise<void> {
    try {
      // What else is there already of the same moment comes first: the queue is one.
      await Promise.resolve()
      for (let next = this.#backlog.shift(); next !== undefined; next = this.#backlog.shift()) {
        await this.#take(next.samples, next.atMs, next.soundMs)
      }
    } finally {
      this.#catchingUp = undefined
    }
  }

  #take(samples: Int16Array, nowMs: number, soundMs: number): Promise<unknown> | undefined {
    const loudest = lastLoud(samples, LOUD)
    const quietBeforeMs = this.#quietMs
    const lengthMs = (samples.length * 1000) / MODEL_RATE_HZ
    this.#quietMs = loudest < 0 ? this.#quietMs + lengthMs : ((samples.length - 1 - loudest) * 1000) / MODEL_RATE_HZ
    if (this.#quietMs >= KEPT_PAUSE_MS && this.#aheadMs(nowMs) > MAX_AHEAD_MS) return undefined
    if (loudest >= 0) {
      const place = (index: number) => this.heardMs + ((index + 1) * 1000) / MODEL_RATE_HZ
      this.loudStretches.loud(place(firstLoud(samples, LOUD)), place(loudest), quietBeforeMs)
    }
    this.#soundEndMs = soundMs
    this.#sounds.add(this.heardMs, soundMs - lengthMs - this.heardMs)
    return this.#deliver(ownBuffer(samples), nowMs)
  }

  /** How long nothing of the caller was loud: milliseconds of sound, not of time. */
  get quietMs(): number {
    return this.#quietMs
  }

  /** Once a tick: keeps time going when the caller's packets stop. */
  tick(nowMs: number): void {
    // Replayed audio is no stall.
    if (this.behind) return
    const afterTicks = this.#quietMs < IN_SPEECH_MS ? STALLED_IN_SPEECH_AFTER_TICKS : STALLED_AFTER_TICKS
    if (++this.#ticksWithoutAudio <= afterTicks) return
    if (this.#heardAny && this.#ticksWithoutAudio === afterTicks + 1 && this.#aheadMs(nowMs) <= MAX_AHEAD_MS) {
      this.#stalledAtMs = nowMs
      this.#sinceStallMs = 0
    }
    inBackground('call', this.#deliver(new Int16Array(FRAME_SAMPLES), nowMs))
  }

  /** How much more was heard than time has passed since packets stopped. */
  #aheadMs(nowMs: number): number {
    return this.#stalledAtMs === undefined ? 0 : this.#sinceStallMs - (nowMs - this.#stalledAtMs)
  }

  #deliver(samples: Int16Array, nowMs: number): Promise<unknown> | undefined {
    const lengthMs = (samples.length * 1000) / MODEL_RATE_HZ
    this.#arrivals.add(this.heardMs, nowMs - lengthMs - this.heardMs)
    this.heardMs += lengthMs
    this.#sinceStallMs += lengthMs
    let slow: Promise<void>[] | undefined
    for (const listener of this.#listeners) {
      const done = listener(samples, this.heardMs)
      if (done !== undefined) slow = [...(slow ?? []), done]
    }
    return slow === undefined ? undefined : Promise.all(slow)
  }
}

/** Samples in a buffer of their own, which is never changed. */
const ownBuffer = (samples: Int16Array): Int16Array =>
  samples.byteLength === samples.buffer.byteLength ? samples : samples.slice()

import { USERDATA_TIMED_TRANSCRIPT, type voice } from '@livekit/agents'
import type { AudioFrame } from '@livekit/rtc-node'
import { Resampler } from '../../media/dsp/resample.ts'
import { FRAME_MS, firstLoud, samplesPerFrame } from '../../media/frame.ts'
import { FrameRun } from '../../media/frame-run.ts'
import { ReadAhead } from './read-ahead.ts'
import { SpokenText } from './spoken-text.ts'

const AUDIBLE = 60
/** Silence a synthesiser puts before its first sound is cut to this. */
const LEAD_IN_MS = 10

/** What the caller heard of the pieces of speech since it was last asked. Monotonic times. */
export interface Heard {
  text: string
  playedMs: number
  startMs: number
  endMs: number
}

/** One flushed piece of speech: its frames at the leg's rate, and the words that belong to them. */
export class SpeechSegment {
  readonly frames: FrameRun
  readonly spoken = new SpokenText()
  /** All of its sound is there. */
  synthesised = false
  /** Its voice failed before the last word. */
  isCutShort = false
  /** Its first frame left, at `startMs`. */
  started = false
  startMs = 0
  /** Of the last frame that left. */
  endMs = 0
  readonly #sampleRateHz: number
  /** Leading silence that was cut off, so that word timings still fit. */
  #cutMs = 0
  /** Silence that fills the last frame. */
  #padMs = 0
  #resampler: Resampler | undefined
  #rateHz = 0
  #ahead: ReadAhead | undefined

  constructor(sampleRateHz: number) {
    this.#sampleRateHz = sampleRateHz
    this.frames = new FrameRun(samplesPerFrame(sampleRateHz))
  }

  /** Sound came for it. */
  get hasSound(): boolean {
    return this.#resampler !== undefined
  }

  push(frame: AudioFrame): void {
    if (this.#resampler === undefined || this.#rateHz !== frame.sampleRate) {
      this.#rateHz = frame.sampleRate
      this.#resampler = new Resampler(frame.sampleRate, this.#sampleRateHz)
    }
    for (const { text, startTime } of timingsOf(frame)) {
      if (typeof startTime === 'number') this.spoken.time(text, startTime * 1000)
    }
    this.#ahead = ReadAhead.of(frame)
    this.#append(this.#resampler.push(frame.data))
  }

  /** Its next frame leaves. */
  take(): void {
    this.frames.take()
    this.#ahead?.played(FRAME_MS)
  }

  /** What of it did not leave never will. */
  drop(): void {
    this.#ahead?.played(this.frames.left * FRAME_MS)
  }

  /** No more comes: what a resampler held back. */
  drain(): void {
    if (this.#resampler !== undefined) this.#append(this.#resampler.flush())
  }

  /** Silence fills the last frame. */
  end(): void {
    this.#padMs = (this.frames.end() * 1000) / this.#sampleRateHz
    this.synthesised = true
  }

  /** Where the first sound of a frame lies that can be heard, in milliseconds; undefined: in none of it. */
  audibleMs(frame: Int16Array): number | undefined {
    const index = firstLoud(frame, AUDIBLE)
    return index < 0 ? undefined : (index * 1000) / this.#sampleRateHz
  }

  /** How far into the sound as it was made that is: its leading silence was cut off. */
  soundMs(playedMs: number): number {
    return playedMs === 0 ? 0 : playedMs + this.#cutMs
  }

  /**
   * What of it the caller heard.
   * @param unheardFromMs so many of its frames that left were not heard, the first of which left then; undefined: all were
   * @param partial it was cut off, or goes on
   */
  heard(unheard: { frames: number; fromMs: number | undefined }, partial: boolean): Heard {
    const playedMs = (this.frames.taken - unheard.frames) * FRAME_MS
    const endMs = unheard.fromMs ?? this.endMs - (partial ? 0 : this.#padMs)
    const isWhole = this.synthesised && !this.isCutShort
    const totalMs = isWhole ? this.frames.length * FRAME_MS + this.#cutMs : undefined
    const text =
      partial || this.isCutShort ? this.spoken.heardBy(this.soundMs(playedMs), totalMs) : this.spoken.text.trim()
    return { text, playedMs, startMs: this.startMs, endMs: Math.max(this.startMs, endMs) }
  }

  #append(samples: Int16Array): void {
    let input = samples
    if (this.frames.isEmpty) {
      const loud = firstLoud(samples, AUDIBLE)
      const leadIn = Math.round((LEAD_IN_MS * this.#sampleRateHz) / 1000)
      const from = loud < 0 ? samples.length : Math.max(0, loud - leadIn)
      const cutMs = (from * 1000) / this.#sampleRateHz
      this.#cutMs += cutMs
      this.#ahead?.played(cutMs)
      input = samples.subarray(from)
    }
    this.frames.push(input)
  }
}

/** When words begin, as the synthesiser says with its audio: seconds from the start of the piece. */
function timingsOf(frame: AudioFrame): readonly voice.TimedString[] {
  return (frame.userdata[USERDATA_TIMED_TRANSCRIPT] as voice.TimedString[] | undefined) ?? []
}

/** Two pieces of what was heard, one after the other. */
export function joinHeard(a: Heard | undefined, b: Heard | undefined): Heard | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return { text: `${a.text} ${b.text}`.trim(), playedMs: a.playedMs + b.playedMs, startMs: a.startMs, endMs: b.endMs }
}

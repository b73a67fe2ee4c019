import { voice } from '@livekit/agents'
import type { AudioFrame } from '@livekit/rtc-node'
import type { SessionPort } from '../../call/link/linked-conversation.ts'
import type { AudioFormat } from '../../call/types/leg.ts'
import { inBackground } from '../../lib/async/boundary.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Encode } from '../../media/codecs/codec.ts'
import { Resampler } from '../../media/dsp/resample.ts'
import { FRAME_MS, samplesPerFrame } from '../../media/frame.ts'
import { FrameRun } from '../../media/frame-run.ts'
import { type FrameOnTheWay, Playout } from './playout.ts'
import { type Heard, joinHeard, SpeechSegment } from './speech-segment.ts'
import { SpokenText } from './spoken-text.ts'

/** Synthesised audio held for one session at most; beyond, the synthesiser waits. */
const MAX_AHEAD_FRAMES = 500
const PROGRESS_EVERY_FRAMES = 20
/** Frames later than this start a new run, as in playback and recording. */
const MAX_LATE_MS = 60
export interface SpeechOutputEvents {
  /** The first frame of a piece of speech leaves. Monotonic time. */
  started(atMs: number): void
  /** The first sample of a reply that can be heard leaves. Monotonic time. */
  audible(atMs: number): void
  /** Words so far, every 400 ms while speaking. */
  progress(): void
  /** What was said out of turn is over. */
  fillerOver(): void
  /** Resolves when no words of the caller's are on their way; undefined: none are. */
  wordsSettled(): Promise<void> | undefined
}

/** Something said out of turn, while the answer is not there yet. */
interface Filler {
  frames: FrameRun
  text: string
  /** Of the first frame and the last one that left. */
  startMs: number
  endMs: number
}

/**
 * The agent's voice: takes synthesised audio as fast as it comes and sends it at the pace of speech, one frame a tick,
 * in the leg's format. Knows at each moment which words the caller has heard.
 */
export class SpeechOutput extends voice.AudioOutput {
  readonly #format: AudioFormat
  readonly #encode: Encode
  readonly #port: SessionPort
  readonly #clock: Clock
  readonly #events: SpeechOutputEvents
  readonly #zeroMs: number
  #segment: SpeechSegment | undefined
  #heard: Heard | undefined
  #paused = false
  /** It goes on when this resolves. */
  #resuming: Promise<void> | undefined
  /** The line is on hold. */
  #onHold = false
  /** Something was sent that a client may still hold. */
  #dirty = false
  #credit = 1
  /** When the next frame leaves, if nothing is between it and the last one. */
  #nextMs = Number.NEGATIVE_INFINITY
  #sinceProgress = 0
  #awaitingAudible = true
  #room: (() => void) | undefined
  readonly #playout = new Playout()
  /** Frames the client dropped before playing them: sent again before anything new. */
  #again: FrameOnTheWay[] = []
  #filler: Filler | undefined
  #lastSoundMs = 0

  /** @param zeroMs timestamps of what is sent count from here, monotonic */
  constructor(
    format: AudioFormat,
    encode: Encode,
    port: SessionPort,
    clock: Clock,
    events: SpeechOutputEvents,
    zeroMs = clock.monotonicMs(),
  ) {
    super(undefined, undefined, { pause: true })
    this.#zeroMs = zeroMs
    this.#format = format
    this.#encode = encode
    this.#port = port
    this.#clock = clock
    this.#events = events
  }

  /** How much of the sound that was made for the last piece of speech the caller heard. */
  get lastSoundMs(): number {
    return this.#lastSoundMs
  }

  /** There is speech that the caller hears or would hear if it were not held back. */
  get speaking(): boolean {
    return this.#segment?.started === true
  }

  /** Something said out of turn is on the line. */
  get playingFiller(): boolean {
    return this.#filler !== undefined
  }

  /** Says something out of turn, unless the agent speaks. The answer, when it comes, waits until it is over. */
  playFiller(samples: Int16Array, sampleRateHz: number, text: string): void {
    if (this.speaking || this.#paused || this.#filler !== undefined) return
    const resampler = new Resampler(sampleRateHz, this.#format.sampleRateHz)
    const frames = new FrameRun(samplesPerFrame(this.#format.sampleRateHz))
    frames.push(resampler.push(samples))
    frames.push(resampler.flush())
    frames.end()
    if (frames.left > 0) this.#filler = { frames, text, startMs: 0, endMs: 0 }
  }

  /** The caller speaks: what was said out of turn is over. */
  stopFiller(): void {
    if (this.#filler === undefined) return
    this.#endFiller(this.#filler, true)
    this.#silence()
  }

  /** The next audible sample answers the caller: tell when it leaves. */
  expectReply(): void {
    this.#awaitingAudible = true
  }

  /** Words of the running piece of speech, as the session produces them. */
  addText(text: string): void {
    this.#open().spoken.add(text)
  }

  textDone(): void {
    if (this.#segment !== undefined) this.#segment.spoken.complete = true
  }

  /** No voice goes on with the words that are being synthesised: those that have no sound yet are not heard. */
  voiceFailed(): void {
    if (this.#segment?.synthesised === false) this.#segment.isCutShort = true
  }

  override async captureFrame(frame: AudioFrame): Promise<void> {
    await super.captureFrame(frame)
    const segment = this.#open()
    segment.push(frame)
    this.#sendFirst()
    if (segment.frames.left > MAX_AHEAD_FRAMES) {
      await new Promise<void>((resolve) => {
        this.#room = resolve
      })
    }
  }

  override flush(): void {
    super.flush()
    const segment = this.#segment
    if (segment === undefined || segment.synthesised || !segment.hasSound) return
    segment.drain()
    this.#sendFirst()
    segment.end()
    // A synthesiser that made no sound at all has nothing to play.
    if (segment.frames.length === 0) this.#finish(segment, false)
  }

  override clearBuffer(): void {
    // What waited to go on is over; what is said next need not wait.
    if (this.#resuming !== undefined) this.#paused = false
    this.#resuming = undefined
    this.#makeRoom()
    const segment = this.#segment
    if (segment !== undefined) {
      if (!segment.hasSound) this.#segment = undefined
      else this.#finish(segment, true)
    }
    this.#dropSent()
  }

  override pause(): void {
    this.#resuming = undefined
    if (this.#paused) return
    this.#paused = true
    const segment = this.#segment
    if (segment?.started !== true) return
    this.#again.unshift(...this.#unheard())
    this.#silence()
  }

  /** Speech that a voice stopped goes on once the words of that voice, if there are any, have come: they may end it. */
  override resume(): void {
    const settled = this.#paused && this.speaking ? this.#events.wordsSettled() : undefined
    this.#resuming = settled
    if (settled === undefined) this.#paused = false
    else inBackground('call', this.#resumeAfter(settled))
  }

  async #resumeAfter(settled: Promise<void>): Promise<void> {
    await settled
    if (this.#resuming !== settled) return
    this.#resuming = undefined
    this.#paused = false
  }

  /** The other side put the line on hold, or is back: nothing is said into a hold, and what of it was not heard is said then. */
  hold(held: boolean): void {
    if (held === this.#onHold) return
    this.#onHold = held
    if (!held || this.#segment?.started !== true) return
    this.#again.unshift(...this.#unheard())
    this.#silence()
  }

  /** The client says that playback reached a mark: what lies between sending and hearing is learnt from it. */
  played(markId: number): void {
    this.#playout.played(markId, this.#clock.monotonicMs())
  }

  /** Once a tick: sends what is due. */
  tick(frames: number): void {
    for (let i = 0; i < frames; i++) {
      if (!this.#sendNext()) {
        this.#credit = 1
        break
      }
    }
  }

  /** What was heard since the last call, running speech included. */
  heardSoFar(): Heard | undefined {
    const running = this.#segment?.started === true ? this.#heardOf(this.#segment, true) : undefined
    return joinHeard(this.#heard, running)
  }

  /** Takes what was heard; the next call starts anew. */
  takePlayedText(): Heard | undefined {
    const heard = this.#heard
    this.#heard = undefined
    return heard
  }

  /** Forgets words that no sound has come for, and none will. */
  dropUnspoken(): void {
    if (this.#segment?.started === false && !this.#segment.hasSound) this.#segment = undefined
  }

  /** Stops for good and releases everyone waiting for room or for the end of playback. */
  stop(): void {
    this.#filler = undefined
    this.#resuming = undefined
    this.#paused = true
    this.clearBuffer()
  }

  #open(): SpeechSegment {
    this.#segment ??= new SpeechSegment(this.#format.sampleRateHz)
    return this.#segment
  }

  /** Nothing was due at the last tick: the first frame need not wait for the next one. */
  #sendFirst(): void {
    if (this.#credit > 0 && this.#sendNext()) this.#credit = 0
  }

  /** Sends one frame; false when there is none. */
  #sendNext(): boolean {
    if (this.#onHold) return false
    if (this.#filler !== undefined && !this.#paused && !this.speaking) {
      this.#sendFiller(this.#filler)
      return true
    }
    const segment = this.#segment
    if (this.#paused) return false
    const again = this.#again.shift()
    if (again !== undefined) {
      this.#send(again.frame, again.of)
      if (this.#again.length === 0 && segment !== undefined) this.#finishIfPlayed(segment)
      return true
    }
    if (segment === undefined) return false
    const frame = segment.frames.next
    if (frame === undefined) {
      if (segment.synthesised) this.#finishPlayed(segment)
      return false
    }
    const leavesMs = this.#leavesMs()
    if (!segment.started) {
      segment.started = true
      segment.startMs = leavesMs
      this.#events.started(leavesMs)
      this.onPlaybackStarted(this.#clock.nowMs())
    }
    if (this.#awaitingAudible) {
      const audibleMs = segment.audibleMs(frame)
      if (audibleMs !== undefined) {
        this.#awaitingAudible = false
        this.#events.audible(leavesMs + audibleMs)
      }
    }
    // A segment begins when its first frame leaves.
    this.#send(frame, segment, leavesMs)
    segment.take()
    // As soon as there is any: who waited for more would bring seconds of sound in one go, and hold up the frames of other calls.
    if (segment.frames.left <= MAX_AHEAD_FRAMES) this.#makeRoom()
    if (++this.#sinceProgress >= PROGRESS_EVERY_FRAMES) {
      this.#sinceProgress = 0
      this.#events.progress()
    }
    this.#finishIfPlayed(segment)
    return true
  }

  /** When a frame leaves that is sent now: behind the last one where they are one run. */
  #leavesMs(): number {
    const nowMs = this.#clock.monotonicMs()
    return nowMs - this.#nextMs > MAX_LATE_MS ? nowMs : this.#nextMs
  }

  /** Returns when it leaves. */
  #send(frame: Int16Array, of: SpeechSegment | undefined, leftMs = this.#leavesMs()): number {
    this.#dirty = true
    this.#nextMs = leftMs + FRAME_MS
    const timestamp = Math.max(0, Math.round(((leftMs - this.#zeroMs) * this.#format.sampleRateHz) / 1000))
    this.#port.sendAudio(this.#encode(frame), timestamp)
    if (of !== undefined) of.endMs = this.#nextMs
    const atMs = this.#clock.monotonicMs()
    this.#playout.sent({ atMs, leftMs, frame, of })
    return leftMs
  }

  /** What was sent and can't have been heard yet. */
  #unheard(): FrameOnTheWay[] {
    return this.#playout.unheard(this.#clock.monotonicMs())
  }

  /** The end is known with the last frame, not a tick later. */
  #finishIfPlayed(segment: SpeechSegment): void {
    if (segment.synthesised && segment.frames.left === 0) this.#finishPlayed(segment)
  }

  #sendFiller(filler: Filler): void {
    const { frames } = filler
    const leftMs = this.#send(frames.take()!, undefined)
    if (frames.taken === 1) filler.startMs = leftMs
    filler.endMs = leftMs + FRAME_MS
    if (frames.left === 0) this.#endFiller(filler, false)
  }

  /** What was heard of it belongs to the turn it stands before. */
  #endFiller(filler: Filler, cut: boolean): void {
    this.#filler = undefined
    this.#events.fillerOver()
    const { text, startMs, endMs, frames } = filler
    if (text === '') return
    const spoken = new SpokenText()
    spoken.add(text)
    spoken.complete = true
    const playedMs = frames.taken * FRAME_MS
    const heard = cut ? spoken.heardBy(playedMs, frames.length * FRAME_MS) : text
    if (heard !== '') this.#heard = joinHeard(this.#heard, { text: heard, playedMs, startMs, endMs })
  }

  #finishPlayed(segment: SpeechSegment): void {
    this.#port.mark(this.#playout.mark(this.#clock.monotonicMs()))
    this.#finish(segment, false)
  }

  #finish(segment: SpeechSegment, interrupted: boolean): void {
    const heard = segment.started ? this.#heardOf(segment, interrupted) : undefined
    this.#lastSoundMs = segment.soundMs(heard?.playedMs ?? 0)
    segment.drop()
    this.#segment = undefined
    this.#heard = joinHeard(this.#heard, heard)
    this.#makeRoom()
    this.onPlaybackFinished({
      playbackPosition: (heard?.playedMs ?? 0) / 1000,
      interrupted,
      synchronizedTranscript: heard?.text ?? '',
    })
  }

  /** @param partial not all of it, or not yet: what the client still holds is not heard */
  #heardOf(segment: SpeechSegment, partial: boolean): Heard {
    const behind = partial ? [...this.#unheard(), ...this.#again].filter(({ of }) => of === segment) : []
    return segment.heard({ frames: behind.length, fromMs: behind[0]?.leftMs }, partial)
  }

  /** Nothing of what was said is wanted any more. */
  #dropSent(): void {
    this.#again = []
    this.#silence()
  }

  #silence(): void {
    this.#playout.cleared()
    if (!this.#dirty) return
    this.#dirty = false
    // What was sent ahead is dropped: what is said next begins now.
    this.#nextMs = Math.min(this.#nextMs, this.#clock.monotonicMs())
    this.#port.clear()
  }

  #makeRoom(): void {
    this.#room?.()
    this.#room = undefined
  }
}

import type { AudioFormat, Leg, LegEvents } from '../../runtime/call/types/leg.ts'
import type { Clock } from '../../runtime/lib/clock.ts'
import { decodeG711 } from '../../runtime/media/codecs/g711.ts'
import { samplesPerFrame } from '../../runtime/media/frame.ts'
import type { Behaviour } from './telephony-behaviour.ts'

/** G.711. */
export const RATE_HZ = 8_000
const FRAME_SAMPLES = samplesPerFrame(RATE_HZ)
/** μ-law silence. */
const SILENCE = new Uint8Array(FRAME_SAMPLES).fill(0xff)
/** Mean magnitude over which a frame of the agent is speech. */
const SPEECH_LEVEL = 200
/** The agent has finished and is silent this long: it is the callee's turn. */
const TURN_MS = 700
/** One who paused in the middle of a sentence, or lost the rest of it, is waited for. */
const PATIENCE_MS = 2_500
/** The agent says nothing at all: the callee says hello or the last line again, and at last hangs up. */
const HELLO_MS = 6_000
const GIVE_UP_MS = 30_000
/** How much of the agent's greeting one who leaves listens to. */
const LEAVES_AFTER_MS = 600

/** One thing the callee says, as μ-law at 8 kHz. */
export type Utterance = Uint8Array

export interface Lines {
  hello: Utterance
  /** Said one after the other, each when the agent has finished. */
  questions: readonly Utterance[]
  goodbye: Utterance
}

/**
 * The simulated callee and their phone line: hears the agent's packets, waits for the end of what it says, which the agent
 * marks, answers with speech in 20 ms packets of μ-law, and hangs up after the last line. `tick` is called once a frame.
 */
export class SimCallee implements Leg {
  readonly format: AudioFormat = { encoding: 'pcmu', sampleRateHz: RATE_HZ }
  readonly #clock: Clock
  readonly #manner: Behaviour['manner']
  readonly #lines: Lines
  readonly #gone: () => void
  readonly #talkMs: number
  #startedMs = 0
  #events: LegEvents | undefined
  #over = false
  #frames = 0
  #saying: Utterance | undefined
  #saidBytes = 0
  /** Index of the next line: the questions, then goodbye. */
  #next = 0
  /** Hello, or the last line, was said again. */
  #repeated = false
  /** Since when neither side has spoken, while the agent hasn't. */
  #quietFromMs = 0
  /** When the agent's speech began and when it was last heard, this turn. */
  #heardFromMs: number | undefined
  #heardMs: number | undefined
  /** The agent marked the end of what was heard last, or broke it off. */
  #finished = false
  /** The end of the audio received so far, when played without a gap. */
  #playedUntilMs = 0
  #marks: { id: number; atMs: number }[] = []

  /** @param gone called once, when the line is down */
  constructor(options: {
    clock: Clock
    manner: Behaviour['manner']
    lines: Lines
    gone: () => void
    /** How long one who listens does. */
    talkMs?: number
  }) {
    this.#talkMs = options.talkMs ?? 0
    this.#clock = options.clock
    this.#manner = options.manner
    this.#lines = options.lines
    this.#gone = options.gone
  }

  start(events: LegEvents): void {
    this.#events = events
    this.#quietFromMs = this.#clock.monotonicMs()
    this.#startedMs = this.#quietFromMs
  }

  answer(): void {}

  sendAudio(bytes: Uint8Array): void {
    if (this.#over) return
    const nowMs = this.#clock.monotonicMs()
    this.#playedUntilMs = Math.max(nowMs, this.#playedUntilMs) + (bytes.length * 1000) / RATE_HZ
    if (!isSpeech(bytes)) return
    this.#heardFromMs ??= nowMs
    this.#heardMs = this.#playedUntilMs
    this.#finished = false
  }

  clear(): void {
    this.#finished = true
    const nowMs = this.#clock.monotonicMs()
    this.#playedUntilMs = nowMs
    this.#heardMs = this.#heardMs === undefined ? undefined : Math.min(this.#heardMs, nowMs)
    for (const mark of this.#marks) mark.atMs = nowMs
  }

  mark(markId: number): void {
    this.#finished = true
    this.#marks.push({ id: markId, atMs: this.#playedUntilMs })
  }

  agentState(): void {}
  transcript(): void {}
  error(): void {}

  close(): void {
    this.#end()
  }

  /** One frame of the callee's line, and the callee's next action. */
  tick(nowMs: number): void {
    if (this.#over || this.#events === undefined) return
    while (this.#marks[0] !== undefined && this.#marks[0].atMs <= nowMs) this.#events.played(this.#marks.shift()!.id)
    this.#decide(nowMs)
    if (this.#over) return
    this.#events.audio(this.#frame(), this.#frames * FRAME_SAMPLES)
    this.#frames++
  }

  #decide(nowMs: number): void {
    if (this.#saying !== undefined) return
    if (this.#manner === 'listens') {
      if (nowMs - this.#startedMs >= this.#talkMs) this.#hangUp()
      return
    }
    const quietMs = nowMs - (this.#heardMs ?? this.#quietFromMs)
    if (quietMs > GIVE_UP_MS) this.#hangUp()
    else if (this.#manner === 'leaves') this.#leave(nowMs)
    else if (this.#manner === 'talks') this.#talk(quietMs)
  }

  #leave(nowMs: number): void {
    if (this.#heardFromMs !== undefined && nowMs - this.#heardFromMs >= LEAVES_AFTER_MS) this.#hangUp()
  }

  /** Speaks once the agent has finished, and hangs up once it has said goodbye too. */
  #talk(quietMs: number): void {
    const { hello, questions, goodbye } = this.#lines
    if (this.#heardMs === undefined) {
      if (this.#next > questions.length) {
        if (quietMs > TURN_MS) this.#hangUp()
      } else if (quietMs > HELLO_MS && !this.#repeated) {
        this.#repeated = true
        this.#say(questions[this.#next - 1] ?? hello)
      }
      return
    }
    if (quietMs < (this.#finished ? TURN_MS : PATIENCE_MS)) return
    this.#repeated = false
    if (this.#next > questions.length) this.#hangUp()
    else this.#say(questions[this.#next++] ?? goodbye)
  }

  #say(utterance: Utterance): void {
    this.#saying = utterance
    this.#saidBytes = 0
    this.#heardFromMs = undefined
    this.#heardMs = undefined
  }

  #frame(): Uint8Array {
    const saying = this.#saying
    if (saying === undefined) return SILENCE
    const frame = saying.slice(this.#saidBytes, this.#saidBytes + FRAME_SAMPLES)
    this.#saidBytes += FRAME_SAMPLES
    if (this.#saidBytes >= saying.length) {
      this.#saying = undefined
      this.#quietFromMs = this.#clock.monotonicMs()
    }
    if (frame.length === FRAME_SAMPLES) return frame
    const padded = SILENCE.slice()
    padded.set(frame)
    return padded
  }

  #hangUp(): void {
    const events = this.#events
    if (!this.#end()) return
    events?.ended('caller_hangup')
  }

  #end(): boolean {
    if (this.#over) return false
    this.#over = true
    this.#marks = []
    this.#gone()
    return true
  }
}

function isSpeech(bytes: Uint8Array): boolean {
  const samples = decodeG711('pcmu', bytes)
  let sum = 0
  for (let i = 0; i < samples.length; i++) sum += Math.abs(samples[i]!)
  return sum > SPEECH_LEVEL * samples.length
}

import { BeepDetector } from '../media/beep.ts'
import { FaxDetector } from '../media/fax.ts'
import { ToneTracker } from '../media/tone.ts'
import { AnswerDetector } from '../telephony/answer-detector.ts'
import type { Answerer, VoicemailBehaviour } from '../telephony/answerer.ts'
import type { AnsweredBy } from '../telephony/carrier.ts'
import type { Ears } from './ears.ts'
import { MODEL_RATE_HZ } from './models.ts'

/** A machine that doesn't beep records once its greeting is over: so long it is silent. */
const SILENCE_MS = 2_000
/** Whatever it still plays, a machine records by now. */
const MAX_GREETING_MS = 30_000
/** Some machines beep twice. */
const AFTER_BEEP_MS = 400
/** Nobody new picks up after this. */
const WATCH_MS = 60_000

export interface AnsweringActions {
  told(by: Answerer): void
  /** Cuts the agent off, and from now on nothing that is heard is answered. */
  hush(): void
  /** Leaves the message and ends the call. */
  leaveMessage(): void
  hangUp(): void
}

/**
 * Who picked up an outbound call, and what the agent does about it. The agent speaks as if it were a human meanwhile: waiting
 * for the verdict would make every human wait.
 */
export class Answering {
  readonly #behaviour: VoicemailBehaviour
  readonly #actions: AnsweringActions
  readonly #detector: AnswerDetector
  readonly #answeredAtMs: number
  readonly #leave: () => void
  readonly #tones = new ToneTracker(MODEL_RATE_HZ)
  readonly #beeps = new BeepDetector()
  readonly #faxes = new FaxDetector()
  #over = false
  /** Since when a machine is waited for to record. */
  #machineAtMs: number | undefined
  #beepAtMs: number | undefined
  #quietFromMs: number | undefined

  constructor(behaviour: VoicemailBehaviour, ears: Ears, answeredAtMs: number, actions: AnsweringActions) {
    this.#behaviour = behaviour
    this.#actions = actions
    this.#answeredAtMs = answeredAtMs
    this.#detector = new AnswerDetector(answeredAtMs)
    this.#leave = ears.listen((samples, endMs) => this.#hear(samples, endMs))
  }

  #hear(samples: Int16Array, endMs: number): void {
    let fax = false
    for (const tone of this.#tones.push(samples)) {
      fax ||= this.#faxes.push(tone)
      if (!this.#beeps.push(tone)) continue
      this.#beepAtMs = endMs
      this.#judge(this.#detector.beep(endMs), endMs)
    }
    if (fax || this.#faxes.hears(this.#tones.sounding)) this.#judge(this.#detector.fax(endMs), endMs)
  }

  speechStarted(atMs: number): void {
    this.#quietFromMs = undefined
    this.#detector.speechStarted(atMs)
  }

  speechEnded(atMs: number): void {
    this.#quietFromMs = atMs
    this.#detector.speechEnded(atMs)
  }

  /** Words of the callee, also those of a running utterance. */
  words(text: string, nowMs: number): void {
    if (!this.#over) this.#judge(this.#detector.words(text, nowMs), nowMs)
  }

  carrier(by: AnsweredBy, nowMs: number): void {
    if (!this.#over) this.#judge(this.#detector.carrier(by, nowMs), nowMs)
  }

  tick(nowMs: number): void {
    if (this.#over) return
    this.#judge(this.#detector.tick(nowMs), nowMs)
    if (this.#machineAtMs !== undefined) this.#awaitRecording(nowMs, this.#machineAtMs)
    else if (nowMs - this.#answeredAtMs > WATCH_MS) this.close()
  }

  close(): void {
    this.#over = true
    this.#leave()
  }

  #judge(verdict: Answerer | undefined, nowMs: number): void {
    if (verdict === undefined || this.#over) return
    this.#actions.told(verdict)
    if (verdict === 'human') {
      this.close()
      return
    }
    if (verdict !== 'machine' && verdict !== 'mailbox_full' && verdict !== 'fax') return
    if (this.#behaviour === 'continue' && verdict !== 'fax') {
      this.close()
      return
    }
    this.#actions.hush()
    // A full mailbox and a fax take no message.
    if (this.#behaviour === 'leave_message' && verdict === 'machine') {
      this.#machineAtMs = nowMs
      return
    }
    this.close()
    this.#actions.hangUp()
  }

  #awaitRecording(nowMs: number, sinceMs: number): void {
    const beeped = this.#beepAtMs !== undefined && nowMs - this.#beepAtMs >= AFTER_BEEP_MS
    const quiet = this.#quietFromMs !== undefined && nowMs - this.#quietFromMs >= SILENCE_MS
    if (!beeped && !quiet && nowMs - sinceMs < MAX_GREETING_MS) return
    this.close()
    this.#actions.leaveMessage()
  }
}

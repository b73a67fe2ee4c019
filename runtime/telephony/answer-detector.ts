import { LANGUAGES } from '../conversation/languages/index.ts'
import { plain } from '../conversation/languages/plain.ts'
import type { Answerer } from './answerer.ts'
import type { AnsweredBy } from './carrier.ts'

/** Whoever is called speaks what they like: every language is listened for. */
const MACHINE = LANGUAGES.flatMap(({ answering }) => answering.machine)
const SCREENING = LANGUAGES.flatMap(({ answering }) => answering.screening)
const COMPANY = LANGUAGES.flatMap(({ answering }) => answering.company)

/** Who falls silent for this long and then speaks again is in a dialogue: no greeting that a beep ends. */
const DIALOGUE_PAUSE_MS = 2_000
/** A human says a few words and waits. */
const HUMAN_PAUSE_MS = 800
const HUMAN_GREETING_MS = 2_400
/** After the carrier said "machine", words of ours may still say that it is an assistant. */
const CARRIER_GRACE_MS = 4_000
/** Nobody has said anything this long after the answer. */
const SILENCE_MS = 15_000
/** Verdicts that nothing changes any more. */
const FINAL: ReadonlySet<Answerer> = new Set(['human', 'machine', 'mailbox_full', 'fax'])
/** What is said later is a conversation. */
const WINDOW_MS = 45_000

/**
 * Says who picked up, from what is heard while the agent already speaks: words first, then how long the greeting is, then the
 * carrier's own verdict. A human stays one, and so do a machine and a fax; what screens callers may turn into either. Pure:
 * times are monotonic milliseconds.
 */
export class AnswerDetector {
  readonly #answeredAtMs: number
  #verdict: Answerer | undefined
  #greetingFromMs: number | undefined
  #greetingUntilMs: number | undefined
  #speaking = false
  #lastSpeechMs: number | undefined
  #dialogue = false
  #text = ''
  #carrierMachineAtMs: number | undefined

  constructor(answeredAtMs: number) {
    this.#answeredAtMs = answeredAtMs
  }

  get verdict(): Answerer | undefined {
    return this.#verdict
  }

  speechStarted(atMs: number): void {
    this.#speaking = true
    this.#greetingFromMs ??= atMs
    if (this.#lastSpeechMs !== undefined && atMs - this.#lastSpeechMs >= DIALOGUE_PAUSE_MS) this.#dialogue = true
    // A new utterance after a pause: the greeting was the one before.
    if (this.#verdict === 'screening') this.#text = ''
  }

  speechEnded(atMs: number): void {
    this.#speaking = false
    this.#greetingUntilMs ??= atMs
    this.#lastSpeechMs = atMs
  }

  /** Words of the callee, also those of a running utterance. Returns a verdict that is new. */
  words(text: string, nowMs: number): Answerer | undefined {
    if (this.#isSettled(nowMs)) return undefined
    this.#text = plain(text)
    if (MACHINE.some((phrase) => phrase.test(this.#text))) return this.#decide('machine')
    if (SCREENING.some((phrase) => phrase.test(this.#text))) return this.#decide('screening')
    if (this.#verdict === undefined && COMPANY.some((phrase) => phrase.test(this.#text))) return this.#decide('human')
    return undefined
  }

  /** The beep of a machine: it counts after a greeting, and not in a dialogue. */
  beep(nowMs: number): Answerer | undefined {
    if (this.#isSettled(nowMs) || this.#greetingFromMs === undefined || this.#dialogue) return undefined
    return this.#decide('machine')
  }

  /** The tones of a fax. */
  fax(nowMs: number): Answerer | undefined {
    return this.#isSettled(nowMs) ? undefined : this.#decide('fax')
  }

  /** The carrier's verdict, which may come at any time. */
  carrier(by: AnsweredBy, nowMs: number): Answerer | undefined {
    if (this.#isSettled(nowMs) || by === 'unknown') return undefined
    if (by === 'human') return this.#verdict === undefined ? this.#decide('human') : undefined
    if (by === 'fax') return this.#decide('fax')
    this.#carrierMachineAtMs ??= nowMs
    return undefined
  }

  /** Call it often: verdicts that time brings. */
  tick(nowMs: number): Answerer | undefined {
    if (this.#verdict !== undefined) return undefined
    const from = this.#greetingFromMs
    if (this.#carrierMachineAtMs !== undefined && nowMs - this.#carrierMachineAtMs >= CARRIER_GRACE_MS) {
      return this.#decide('machine')
    }
    if (from === undefined) return nowMs - this.#answeredAtMs >= SILENCE_MS ? this.#decide('unknown') : undefined
    const until = this.#greetingUntilMs
    if (until === undefined || this.#speaking || this.#carrierMachineAtMs !== undefined) return undefined
    // The words of a short greeting come a moment after it.
    const isShort = until - from <= HUMAN_GREETING_MS
    if (isShort && this.#text !== '' && nowMs - until >= HUMAN_PAUSE_MS) return this.#decide('human')
    return nowMs - this.#answeredAtMs >= SILENCE_MS ? this.#decide(this.#text === '' ? 'unknown' : 'human') : undefined
  }

  #isSettled(nowMs: number): boolean {
    return (this.#verdict !== undefined && FINAL.has(this.#verdict)) || nowMs - this.#answeredAtMs > WINDOW_MS
  }

  #decide(verdict: Answerer): Answerer | undefined {
    if (verdict === this.#verdict) return undefined
    this.#verdict = verdict
    return verdict
  }
}

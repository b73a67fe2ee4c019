import type { Answerer } from '../../plugin-sdk/telephony/answerer.ts'
import type { AnsweredBy } from '../../plugin-sdk/telephony/carrier.ts'
import { LANGUAGES } from '../languages/index.ts'
import { plain } from '../languages/plain.ts'

/** The callee may speak any language: all are matched. */
const SPOKEN = LANGUAGES.map(({ answering }) => answering)
/** A tone to speak after: machines ask for it, and assistants that go on with the call. */
const TONE = SPOKEN.map(({ tone }) => tone)
const PROCEEDS = SPOKEN.map(({ proceeds }) => proceeds)
const MACHINE = SPOKEN.flatMap(({ machine }) => machine)
const FULL = SPOKEN.flatMap(({ full }) => full)
const MENU = SPOKEN.flatMap(({ menu }) => menu)
const SCREENING = SPOKEN.flatMap(({ screening }) => screening)
/** An offer of help expects an answer, so it is no voicemail. The first of each list. */
const HELP = SPOKEN.flatMap(({ company }) => company.slice(0, 1))
const COMPANY = SPOKEN.flatMap(({ company }) => company)
const OFFERS = SPOKEN.map(({ offers }) => offers)
const ASKS = SPOKEN.map(({ asks }) => asks)
const SPEAKS_OF_OTHERS = SPOKEN.map(({ speaksOfOthers }) => speaksOfOthers)
const INTRODUCES = SPOKEN.map(({ introduces }) => introduces)

/** Who falls silent for this long and then speaks again is in a dialogue: no greeting that a beep ends. */
const DIALOGUE_PAUSE_MS = 2_000
/** A human says a few words and waits. */
const HUMAN_PAUSE_MS = 700
const HUMAN_GREETING_MS = 2_400
/** Who offers help waits for the answer. */
const COMPANY_PAUSE_MS = 600
/** A voicemail goes on after its name, and after a long sentence; a human waits longer. */
const INTRODUCED_PAUSE_MS = 1_100
const LONG_PAUSE_MS = 1_200
/** What a voicemail says, too, is a human's when neither more of it nor a beep follows. */
const HINTED_PAUSE_MS = 2_500
/** Nobody who picks up speaks so long in words that say nothing of an answer: a greeting in another language, most often, before its beep. */
const MONOLOGUE_MS = 6_000
/** So many different hints are no human's any more. */
const MACHINE_HINTS = 2
/** After the carrier said "machine", words of ours may still say that it is an assistant. */
const CARRIER_GRACE_MS = 4_000
/** No speech within this time after the answer. */
const SILENCE_MS = 15_000
/** Verdicts that nothing changes any more, but that a machine's mailbox is full. */
const FINAL: ReadonlySet<Answerer> = new Set(['human', 'machine', 'mailbox_full', 'fax'])
const MAX_SAID_CHARS = 2_000
/** What is said later is a conversation. */
const WINDOW_MS = 45_000

const says = (patterns: readonly RegExp[], text: string): boolean => patterns.some((pattern) => pattern.test(text))

/**
 * Says who picked up, from what is heard while the agent already speaks: words first, then pauses, a beep, and the carrier's own
 * verdict. Neither the length of the speech nor one sentence that people also say makes a machine. A human stays one, and so do
 * a machine and a fax; what screens callers and what has a menu may turn into either. Pure: times are monotonic milliseconds.
 */
export class AnswerDetector {
  readonly #answeredAtMs: number
  #verdict: Answerer | undefined
  #speaking = false
  /** The first utterance, later ones after a short pause included, began then. */
  #greetingFromMs: number | undefined
  /** The present or last utterance began then, the last sound of any ended then. */
  #utteranceFromMs: number | undefined
  #lastSpeechMs: number | undefined
  #dialogue = false
  /** Words since the last long pause. */
  #text = ''
  /** Hints by language and kind. */
  readonly #hints = new Set<string>()
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
    const pausedMs = this.#lastSpeechMs === undefined ? 0 : atMs - this.#lastSpeechMs
    if (pausedMs >= DIALOGUE_PAUSE_MS) this.#dialogue = true
    if (this.#utteranceFromMs === undefined || pausedMs >= HUMAN_PAUSE_MS) {
      this.#utteranceFromMs = atMs
      this.#text = ''
    }
  }

  speechEnded(atMs: number): void {
    this.#speaking = false
    this.#lastSpeechMs = atMs
  }

  /** Words of the callee, also those of a running utterance. Returns a verdict that is new. */
  words(text: string, nowMs: number): Answerer | undefined {
    // What was said before was looked at as it came.
    const said = plain(text.slice(-MAX_SAID_CHARS))
    if (this.#verdict === 'machine' && says(FULL, said)) return this.#decide('mailbox_full')
    if (this.#isSettled(nowMs)) return undefined
    this.#text = said
    if (says(FULL, said)) return this.#decide('mailbox_full')
    if (says(PROCEEDS, said) && says(SCREENING, said)) return this.#decide('screening')
    if (says(TONE, said)) return this.#decide('machine')
    if (!says(OFFERS, said)) {
      if (says(MACHINE, said)) return this.#decide('machine')
      this.#collectHints(said)
      if (this.#hints.size >= MACHINE_HINTS && !says(SPEAKS_OF_OTHERS, said)) return this.#decide('machine')
    }
    if (says(SCREENING, said)) return this.#decide('screening')
    if (says(MENU, said)) return this.#decide('ivr')
    if (says(HELP, said) && this.#hints.size === 0) return this.#decide('human')
    return says(ASKS, said) && this.#isLong(nowMs) ? this.#decide('screening') : undefined
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
    if (this.#isSettled(nowMs)) return undefined
    if (this.#carrierMachineAtMs !== undefined) {
      const waited = nowMs - this.#carrierMachineAtMs >= CARRIER_GRACE_MS
      return waited && this.#verdict !== 'screening' ? this.#decide('machine') : undefined
    }
    if (this.#isHuman(nowMs)) return this.#decide('human')
    if (this.#verdict !== undefined || nowMs - this.#answeredAtMs < SILENCE_MS) return undefined
    return this.#speaking ? undefined : this.#decide('unknown')
  }

  /** A phrase that no machine, menu or assistant says, followed by a wait for an answer. */
  #isHuman(nowMs: number): boolean {
    if (this.#speaking || this.#text === '' || this.#lastSpeechMs === undefined) return false
    const text = this.#text
    if (says(MACHINE, text) || says(MENU, text) || says(SCREENING, text)) return says(OFFERS, text)
    const quietMs = nowMs - this.#lastSpeechMs
    // Behind a menu there is a human when one says so; a menu speaks in short sentences, too.
    if (this.#verdict === 'ivr') return says(COMPANY, text) && quietMs >= LONG_PAUSE_MS
    return quietMs >= this.#pauseMs(text)
  }

  /** How long a human waits after these words before anything else would go on. */
  #pauseMs(text: string): number {
    if (says(OFFERS, text)) return COMPANY_PAUSE_MS
    if (this.#hints.size > 0) return HINTED_PAUSE_MS
    if (says(COMPANY, text)) return COMPANY_PAUSE_MS
    const lengthMs = (this.#lastSpeechMs ?? 0) - (this.#utteranceFromMs ?? 0)
    if (lengthMs > MONOLOGUE_MS) return HINTED_PAUSE_MS
    if (lengthMs > HUMAN_GREETING_MS) return LONG_PAUSE_MS
    return says(INTRODUCES, text) ? INTRODUCED_PAUSE_MS : HUMAN_PAUSE_MS
  }

  #collectHints(text: string): void {
    for (const { hints } of SPOKEN)
      for (const [kind, hint] of hints.entries()) if (hint.test(text)) this.#hints.add(`${kind}`)
  }

  /** The running utterance is more than a few words. */
  #isLong(nowMs: number): boolean {
    return this.#utteranceFromMs === undefined || nowMs - this.#utteranceFromMs > HUMAN_GREETING_MS
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

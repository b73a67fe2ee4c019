/** A recogniser that was opened and failed no sooner than this is one. */
const OPENS_WITHIN_MS = 1_500
/** A recogniser that says nothing of real speech, this long after it ended, hangs; `halfway`: it gave some words and not the last. */
const HANGS_AFTER_MS = { withInterims: 2_000, halfway: 6_000 }
/** One that gives whole utterances only, with another provider behind it, and without. */
const ANSWERS_WITHIN_MS = { backed: 4_000, alone: 6_000, most: 30_000 }
/** Given up so often in a row, one that gives whole utterances is waited for: each new request makes a busy server busier. */
const MAX_GIVE_UPS = 2
/** Speech without words after this counts as not understood. */
const NOT_UNDERSTOOD_AFTER_MS = { withInterims: 4_500, halfway: 9_000, unavailable: 8_000 }
/** And after a request of a whole utterance could have been answered. */
const NOT_UNDERSTOOD_LATER_MS = 4_000
/** And where the recogniser says itself that it knows no such words. */
const UNKNOWN_AFTER_MS = 800
/** Shorter speech may have no words to hear. */
const MIN_SPEECH_MS = 400
/** Shorter sounds without words are noises. */
const MIN_NOT_UNDERSTOOD_MS = 700
/** Less speech than this behind the known words is the end of the last one. */
const MIN_OWED_MS = 200
/** The end of a turn waits for words that are owed for as long as they usually take, and more. */
const USUAL_LATENCIES = 2.5
const MIN_OWED_WAIT_MS = 2_000
/** Of speech without words, on a line that is never quiet for long. */
const MAX_STRETCHES = 64
/** How much of the slowest answer is remembered at the next one. */
const SLOWNESS_KEPT = 0.8

/** Places in the run of the caller's audio, in milliseconds. */
export interface Span {
  readonly startMs: number
  readonly endMs: number
}

/** Speech of the caller of which words are missing. */
interface Stretch {
  readonly startMs: number
  /** Undefined: it goes on. `endedAtMs`: when that was known, monotonic. */
  readonly endMs: number | undefined
  readonly endedAtMs: number
  /** The recogniser found no words in it. */
  readonly isEmpty: boolean
}

/** What is known of the caller's words. Places are milliseconds of their audio, `…AtMs` and `…SinceMs` are monotonic. */
interface Recognition {
  /** The running recogniser gives words while they are spoken; else whole utterances, when they are over. */
  readonly interims: boolean
  /** It has given some: it may do so and never does. */
  readonly gaveInterims: boolean
  /** Another one can take over. */
  readonly backed: boolean
  /** It can't hear yet: its silence says nothing. */
  readonly preparing: boolean
  readonly speech: readonly Stretch[]
  /** Up to here the words are known. */
  readonly knownMs: number
  /** Words so far of the running utterance. */
  readonly interim: string
  /** Some words came of speech whose words are missing. */
  readonly understood: boolean
  /** The recogniser said of that speech that it can't know its words, and why. */
  readonly unknown: string | undefined
  /** Requests that were given up or failed since words came last. */
  readonly giveUps: number
  /** From the end of an utterance to its words: the slowest of the last ones. */
  readonly slowestMs: number | undefined
  readonly unavailableSinceMs: number | undefined
  readonly reportedUnavailable: boolean
  /** When it counts as opened, as hanging, and its words as not understood. */
  readonly opensAtMs: number | undefined
  readonly hangsAtMs: number | undefined
  readonly wordsAtMs: number | undefined
}

export const NOTHING_HEARD: Recognition = {
  interims: true,
  gaveInterims: false,
  backed: false,
  preparing: false,
  speech: [],
  knownMs: 0,
  interim: '',
  understood: false,
  unknown: undefined,
  giveUps: 0,
  slowestMs: undefined,
  unavailableSinceMs: undefined,
  reportedUnavailable: false,
  opensAtMs: undefined,
  hangsAtMs: undefined,
  wordsAtMs: undefined,
}

export type RecognitionEvent =
  | { type: 'opened'; interims: boolean; backed: boolean; preparing: boolean }
  /** It can hear from now on. */
  | { type: 'prepared' }
  /** It ended or failed; `hung`: it was given up. */
  | { type: 'closed'; hung: boolean }
  | { type: 'speech_started'; startMs: number }
  | { type: 'speech_ended'; endMs: number }
  | {
      type: 'interim' | 'final'
      text: string
      /** Of the sound the words are of, where the recogniser says so. */
      span: Span | undefined
      /** The end of all audio, and of the last of it that held speech. */
      heardMs: number
      lastSpeechMs: number
      /** What the words are: the caller's, said over the agent's speech and no turn, or the agent's own. */
      as: 'words' | 'over_speech' | 'echo'
    }
  | { type: 'unknown'; message: string }
  | { type: 'tick' }

export type RecognitionEffect =
  | { type: 'words' | 'over_speech'; span: Span }
  /** The caller fell silent after these words: an answer is worth preparing. */
  | { type: 'prepare'; text: string }
  /** The recogniser shows that it hears. */
  | { type: 'hears' }
  | { type: 'forget'; upToMs: number }
  | { type: 'give_up' }
  | { type: 'overdue'; endMs: number }
  | { type: 'noise' }
  | ({ type: 'no_words'; reason: 'no_words' | 'stt_failed' | 'unknown_sentence'; message?: string } & Span)
  | { type: 'unavailable'; sinceMs: number | undefined }

interface RecognitionStep {
  readonly state: Recognition
  readonly effects: readonly RecognitionEffect[]
}

/** What follows from an event. Pure. @param nowMs monotonic */
export function recognitionStep(state: Recognition, event: RecognitionEvent, nowMs: number): RecognitionStep {
  switch (event.type) {
    case 'opened':
      return step(opened(state, event, nowMs))
    case 'prepared':
      return step(awaitAgain({ ...state, preparing: false }, nowMs))
    case 'closed':
      return closed({ ...state, opensAtMs: undefined, preparing: false }, event.hung, nowMs)
    case 'speech_started':
      return step({
        ...state,
        speech: [
          ...state.speech.slice(1 - MAX_STRETCHES),
          { startMs: event.startMs, endMs: undefined, endedAtMs: 0, isEmpty: false },
        ],
        hangsAtMs: undefined,
        wordsAtMs: undefined,
      })
    case 'speech_ended':
      return speechEnded(state, event.endMs, nowMs)
    case 'interim':
    case 'final': {
      if (event.text === '') return event.type === 'final' ? step(emptyFinal(state, event)) : step(state)
      const { state: hearing, effects } = hears(state)
      const next = event.type === 'interim' ? interim(hearing, event, nowMs) : final(hearing, event, nowMs)
      return { state: next.state, effects: [...effects, ...next.effects] }
    }
    case 'unknown': {
      const { state: hearing, effects } = hears(state)
      const unknown = { ...hearing, interim: '', unknown: event.message }
      return { state: isSpeaking(unknown) ? unknown : awaitWords(unknown, nowMs), effects }
    }
    case 'tick':
      return tick(state, nowMs)
  }
}

/** When a `tick` is due; undefined: nothing is waited for. */
export function recognitionDueAtMs(state: Recognition, nowMs: number): number | undefined {
  const { opensAtMs, hangsAtMs, wordsAtMs } = state
  const owedUntilMs = owesWords(state, nowMs) ? owedUntil(state) : undefined
  const due = [opensAtMs, hangsAtMs, wordsAtMs, owedUntilMs].filter((atMs) => atMs !== undefined)
  return due.length === 0 ? undefined : Math.min(...due)
}

/** Words are on their way of speech that is over: a turn that ended now would end on old ones. */
export function owesWords(state: Recognition, nowMs: number): boolean {
  return nowMs < (owedUntil(state) ?? Number.NEGATIVE_INFINITY)
}

/** More of the turn is being said or recognised: an answer to the words so far would be thrown away. */
export function expectsMore(state: Recognition, nowMs: number): boolean {
  return !state.interims && (isSpeaking(state) || owesWords(state, nowMs))
}

/** How long a request of one utterance may take. */
export function answerLimitMs({ backed, slowestMs = 0, giveUps }: Recognition): number {
  const { backed: withOthers, alone, most } = ANSWERS_WITHIN_MS
  return Math.min(most, Math.max(backed ? withOthers : alone, 2 * slowestMs) * 2 ** giveUps)
}

function owedUntil(state: Recognition): number | undefined {
  if (state.unknown !== undefined || (state.interims && state.interim === '')) return undefined
  const owed = state.speech.filter((one) => !one.isEmpty && missingMs(one, state) >= MIN_OWED_MS)
  if (owed.length === 0) return undefined
  const usualMs = state.slowestMs === undefined ? Number.POSITIVE_INFINITY : USUAL_LATENCIES * state.slowestMs
  const waitMs = state.interims
    ? HANGS_AFTER_MS.withInterims
    : Math.min(wordsLimitMs(state), Math.max(MIN_OWED_WAIT_MS, usualMs))
  return Math.max(...owed.map(({ endedAtMs }) => endedAtMs)) + waitMs
}

/** How much of speech that is over lies behind the known words. */
const missingMs = ({ startMs, endMs }: Stretch, { knownMs }: Recognition): number =>
  endMs === undefined ? 0 : endMs - Math.max(startMs, knownMs)

const isSpeaking = ({ speech }: Recognition): boolean => speech.at(-1)?.endMs === undefined && speech.length > 0

const step = (state: Recognition, ...effects: RecognitionEffect[]): RecognitionStep => ({ state, effects })

function hangLimitMs(state: Recognition): number {
  if (state.interim !== '') return HANGS_AFTER_MS.halfway
  return state.interims ? HANGS_AFTER_MS.withInterims : answerLimitMs(state)
}

function wordsLimitMs(state: Recognition): number {
  if (state.unknown !== undefined) return UNKNOWN_AFTER_MS
  if (state.interim !== '') return NOT_UNDERSTOOD_AFTER_MS.halfway
  return state.interims ? NOT_UNDERSTOOD_AFTER_MS.withInterims : answerLimitMs(state) + NOT_UNDERSTOOD_LATER_MS
}

const awaitSign = (state: Recognition, nowMs: number): Recognition => ({
  ...state,
  hangsAtMs: nowMs + hangLimitMs(state),
})
const awaitWords = (state: Recognition, nowMs: number): Recognition => ({
  ...state,
  wordsAtMs: nowMs + wordsLimitMs(state),
})

/** Speech that is over was not heard by a recogniser that can hear now. */
function awaitAgain(state: Recognition, nowMs: number): Recognition {
  if (state.speech.length === 0 || isSpeaking(state)) return state
  const awaited = awaitWords(state, nowMs)
  return state.understood || state.unknown !== undefined ? awaited : awaitSign(awaited, nowMs)
}

function opened(
  state: Recognition,
  { interims, backed, preparing }: Extract<RecognitionEvent, { type: 'opened' }>,
  nowMs: number,
): Recognition {
  const running = { ...state, interims, gaveInterims: false, backed, preparing, opensAtMs: nowMs + OPENS_WITHIN_MS }
  // A whole utterance is asked for again with the audio that was kept.
  return interims || preparing || state.giveUps === 0 ? running : awaitAgain(running, nowMs)
}

function closed(state: Recognition, hung: boolean, nowMs: number): RecognitionStep {
  const giveUps = state.speech.length > 0 ? Math.min(MAX_GIVE_UPS, state.giveUps + 1) : state.giveUps
  if (hung || state.unavailableSinceMs !== undefined) return step({ ...state, giveUps })
  return step({ ...state, giveUps, unavailableSinceMs: nowMs }, { type: 'unavailable', sinceMs: nowMs })
}

/** It works. */
function available(state: Recognition): RecognitionStep {
  if (state.unavailableSinceMs === undefined) return step(state)
  const next = { ...state, unavailableSinceMs: undefined, reportedUnavailable: false }
  return step(next, { type: 'unavailable', sinceMs: undefined })
}

function hears(state: Recognition): RecognitionStep {
  const next = available({ ...state, understood: true, hangsAtMs: undefined })
  return step(next.state, ...next.effects, { type: 'hears' })
}

function speechEnded(state: Recognition, endMs: number, nowMs: number): RecognitionStep {
  const last = state.speech.at(-1)
  if (last === undefined || last.endMs !== undefined) return step(state)
  const ended = { ...last, endMs, endedAtMs: nowMs }
  const missing = missingMs(ended, state)
  // A quick recogniser has the words before the silence is judged.
  if (state.knownMs > ended.startMs && missing < MIN_OWED_MS)
    return step(withoutKnown({ ...state, speech: [...state.speech.slice(0, -1), ended] }))
  const heard = awaitWords({ ...state, speech: [...state.speech.slice(0, -1), ended] }, nowMs)
  const isKnown = state.understood && state.interim === ''
  const next = missing >= MIN_SPEECH_MS && !isKnown && state.unknown === undefined ? awaitSign(heard, nowMs) : heard
  return step(next, ...(state.interim === '' ? [] : [{ type: 'prepare' as const, text: state.interim }]))
}

type Heard = Extract<RecognitionEvent, { type: 'interim' | 'final' }>

function interim(state: Recognition, event: Heard, nowMs: number): RecognitionStep {
  if (event.as !== 'words') return step(state)
  const isFirst = state.interim === ''
  const next = { ...state, interims: true, gaveInterims: true, interim: event.text }
  const words = { type: 'words' as const, span: spanOf(state, event) }
  // Words that stay half known are none: their rest is awaited, too, but not for ever.
  const awaits = isFirst && state.speech.length > 0 && !isSpeaking(state)
  return step(awaits ? awaitWords(awaitSign(next, nowMs), nowMs) : next, words)
}

function final(state: Recognition, event: Heard, nowMs: number): RecognitionStep {
  const span = spanOf(state, event)
  const interims = state.interims && state.gaveInterims
  const knownMs = Math.max(state.knownMs, coverage(interims, event))
  const answered = state.speech.findLast(({ endMs }) => endMs !== undefined && endMs <= knownMs + MIN_OWED_MS)
  const next = withoutKnown({
    ...state,
    interims,
    knownMs,
    interim: '',
    understood: false,
    unknown: undefined,
    giveUps: 0,
    ...(answered === undefined
      ? {}
      : { slowestMs: Math.max(nowMs - answered.endedAtMs, SLOWNESS_KEPT * (state.slowestMs ?? 0)) }),
  })
  const upToMs = next.speech.length === 0 ? event.heardMs : Math.min(knownMs, event.span?.endMs ?? knownMs)
  const words = event.as === 'echo' ? [] : [{ type: event.as, span }]
  return step(next, { type: 'forget', upToMs }, ...words)
}

/** An utterance without words. */
function emptyFinal(state: Recognition, { span }: Heard): Recognition {
  const isIn = ({ startMs, endMs }: Stretch) =>
    span !== undefined && endMs !== undefined && overlap({ startMs, endMs }, span)
  const speech = state.speech.map((one) => (isIn(one) ? { ...one, isEmpty: true } : one))
  const hangsAtMs = speech.every(({ isEmpty }) => isEmpty) ? undefined : state.hangsAtMs
  return { ...state, interim: '', speech, hangsAtMs }
}

/** The end of what final words tell of: their own sound, or all that was heard. */
function coverage(interims: boolean, { span, lastSpeechMs }: Heard): number {
  return interims || span === undefined ? lastSpeechMs : span.endMs
}

/** Speech whose words are known is no longer waited for. */
function withoutKnown(state: Recognition): Recognition {
  const speech = state.speech.filter((one) => one.endMs === undefined || missingMs(one, state) >= MIN_OWED_MS)
  const isAwaited = speech.some(({ endMs }) => endMs !== undefined)
  return isAwaited ? { ...state, speech } : { ...state, speech, hangsAtMs: undefined, wordsAtMs: undefined }
}

const overlap = (a: Span, b: Span): boolean => a.startMs < b.endMs && b.startMs < a.endMs

/** The speech that words are of: as voices were heard in the sound that the recogniser names, or since its last words. */
function spanOf({ speech, knownMs }: Recognition, { span, heardMs, lastSpeechMs }: Heard): Span {
  const voices = speech.map(({ startMs, endMs }) => ({ startMs, endMs: endMs ?? Math.max(startMs, lastSpeechMs) }))
  const named = span === undefined ? [] : voices.filter((one) => overlap(one, span))
  const of = named.length > 0 ? named : voices
  const [first, last] = [of[0], of.at(-1)]
  if (first === undefined || last === undefined) {
    const endMs = Math.min(span?.endMs ?? Math.max(knownMs, lastSpeechMs), heardMs)
    return { startMs: Math.min(span?.startMs ?? endMs, endMs), endMs }
  }
  const isPartlyKnown = first.startMs < knownMs && knownMs < last.endMs
  return { startMs: isPartlyKnown ? knownMs : first.startMs, endMs: last.endMs }
}

function tick(state: Recognition, nowMs: number): RecognitionStep {
  let next = state
  const effects: RecognitionEffect[] = []
  if (next.opensAtMs !== undefined && nowMs >= next.opensAtMs) {
    const open = available({ ...next, opensAtMs: undefined })
    next = open.state
    effects.push(...open.effects)
  }
  if (next.hangsAtMs !== undefined && nowMs >= next.hangsAtMs) {
    next = { ...next, hangsAtMs: undefined }
    effects.push({ type: 'overdue', endMs: next.speech.at(-1)?.endMs ?? next.knownMs })
    if (!next.preparing && (next.interims || next.giveUps < MAX_GIVE_UPS)) effects.push({ type: 'give_up' })
  }
  if (next.wordsAtMs !== undefined && nowMs >= next.wordsAtMs) {
    const judged = notUnderstood({ ...next, wordsAtMs: undefined }, nowMs)
    next = judged.state
    effects.push(...judged.effects)
  }
  return { state: next, effects }
}

/** No words came of speech. While no recogniser is connected they still may: the audio is kept. */
function notUnderstood(state: Recognition, nowMs: number): RecognitionStep {
  // Awaited anew from the moment it can hear.
  if (state.preparing) return step(state)
  const { speech, unknown } = state
  const startMs = speech[0]?.startMs ?? state.knownMs
  const endMs = speech.at(-1)?.endMs ?? startMs
  if (state.unavailableSinceMs !== undefined) {
    const waits = { ...state, wordsAtMs: nowMs + NOT_UNDERSTOOD_AFTER_MS.unavailable, reportedUnavailable: true }
    return step(waits, ...(state.reportedUnavailable ? [] : [noWords({ startMs, endMs }, 'stt_failed')]))
  }
  const isHalf = state.interim !== ''
  const isUnderstood = unknown === undefined && !isHalf && (state.understood || state.knownMs > startMs)
  // Speech reported by the recogniser counts, however short it is.
  const enoughMs = isHalf ? 0 : unknown === undefined ? MIN_NOT_UNDERSTOOD_MS : MIN_SPEECH_MS
  const verdict: RecognitionEffect =
    isUnderstood || endMs - startMs < enoughMs
      ? { type: 'noise' }
      : unknown === undefined
        ? noWords({ startMs, endMs }, 'no_words')
        : { ...noWords({ startMs, endMs }, 'unknown_sentence'), message: unknown }
  const next = { ...state, interim: '', understood: false, unknown: undefined, speech: [], hangsAtMs: undefined }
  return step(next, { type: 'forget', upToMs: Number.POSITIVE_INFINITY }, verdict)
}

const noWords = (span: Span, reason: 'no_words' | 'stt_failed' | 'unknown_sentence') =>
  ({ type: 'no_words', ...span, reason }) as const

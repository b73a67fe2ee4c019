import type { AgentSpec } from '../../call/types/agent-spec.ts'
import type { Language } from '../languages/language.ts'
import { phrasesIn, spokenWords } from '../languages/phrase-list.ts'
import { plain } from '../languages/plain.ts'

/** How the words of a caller end who has fallen silent: what tells best whether they go on. */
export type Ending =
  /** No words are known. */
  | 'unknown'
  /** On a word that no sentence ends with, a comma, or "let me think". */
  | 'open'
  /** In a number or a name that is given piece by piece. */
  | 'dictated'
  /** On a word that stands before more as often as at the end. */
  | 'loose'
  /** Without a sign, in a turn that is long already. */
  | 'told'
  /** Without a sign, where the recogniser sets full stops; or with one, in a long turn or on a word that stands before more as often. */
  | 'plain'
  /** As a sentence does, after a few words; or without a sign, after a question that a yes or a no answers. */
  | 'brief'
  /** Without a sign, where it sets none. */
  | 'bare'
  /** As a sentence does. */
  | 'closed'
  /** On a question: the caller waits for the answer. */
  | 'question'
  /** With nothing but a yes or a no to a question that wants one, or with a telephone number that is long enough. */
  | 'answer'

/**
 * How much likelier a silence is the end of a turn than a pause in it, once its words end so: counted on the labelled pauses
 * (`npm run bench -- turns`), rounded within their error. There are too few questions to count (37 ends, 3 pauses): theirs is judged, and has them answered
 * as soon as may be.
 */
const ODDS: Readonly<Record<Ending, number>> = {
  open: 0.02,
  loose: 0.25,
  unknown: 0.3,
  told: 0.3,
  dictated: 0.6,
  plain: 0.65,
  brief: 1.6,
  bare: 1.7,
  closed: 5,
  answer: 6,
  question: 15,
}

/**
 * How many of the pauses within turns are longer, by their length: those of 0.2 s and more on eot-bench's English turns (silence alone,
 * June 2026). Between the points: straight lines in the logarithm.
 */
const LONGER_PAUSES: readonly (readonly [silenceMs: number, share: number])[] = [
  [200, 1],
  [300, 0.556],
  [600, 0.217],
  [1_000, 0.1],
  [1_600, 0.05],
  [2_500, 0.02],
  [4_000, 0.008],
]

/** How sure one has to be that a turn is over, and how short or long a silence is at least and at most. */
const MODES = {
  eager: { sureness: 0.75, leastMs: 100, mostMs: 1_200 },
  balanced: { sureness: 0.935, leastMs: 150, mostMs: 2_400 },
  patient: { sureness: 0.97, leastMs: 400, mostMs: 3_000 },
} as const satisfies Record<NonNullable<AgentSpec['endpointing']>, unknown>

/** How much of the end is looked at. */
const MAX_TAIL_CHARS = 300
/** No telephone number that is asked for is shorter. */
const LEAST_PHONE_DIGITS = 7
/** So many digits or letters in a row are dictated, whatever was asked. */
const DICTATED_IN_A_ROW = 3
/** No number or name that is asked for has fewer digits or letters. */
const LEAST_DICTATED = 3
const MAX_ANSWER_WORDS = 6
const MAX_BRIEF_WORDS = 5
/** A turn with more words is a tale, of which more may come. */
const MAX_SHORT_WORDS = 25

/** Probability that a turn is over whose words end so, after so long a silence. */
export function probabilityOver(ending: Ending, silenceMs: number): number {
  const odds = ODDS[ending]
  return odds / (odds + shareLonger(silenceMs))
}

/** The silence that ends a turn whose words end so: milliseconds from its last sound. @param ending undefined: it is over for sure */
export function silenceOf(ending: Ending | undefined, mode: AgentSpec['endpointing'] = 'balanced'): number {
  const { sureness, leastMs, mostMs } = MODES[mode]
  if (ending === undefined) return leastMs
  return Math.min(mostMs, Math.max(leastMs, silenceAt((ODDS[ending] * (1 - sureness)) / sureness)))
}

/** What is known beside the words. */
export interface Circumstances {
  /** What the agent said before them. */
  readonly asked: string
  /** The recogniser sets full stops. */
  readonly punctuates: boolean
}

/** A text holds a mark that a sentence ends with. */
export const isPunctuated = (text: string): boolean => /[.?!。？！।]/u.test(text)

/** How the words so far end. */
export function endingOf(words: string, { asked, punctuates }: Circumstances, language: Language): Ending {
  const { openEndings, looseEndings, writing, holdOns } = language
  const tail = words.slice(-MAX_TAIL_CHARS).trim()
  if (tail === '') return 'unknown'
  const mark = /[.?!。？！।…,،、:;—-]*$/u.exec(tail)?.[0] ?? ''
  const said = tail.slice(0, tail.length - mark.length)
  if (/(?:\.\.\.|…|[,،、:;—-])$/u.test(mark)) return 'open'
  const isQuestion = /[?？]$/u.test(mark)
  const spoken = spokenWords(said, writing)
  if (!isQuestion && endsWithPhrase(spoken, holdOns)) return 'open'
  const dictated = dictation(spoken, asked, language)
  if (dictated !== undefined) return dictated
  // A recogniser sets its mark behind half a sentence, too; a question may end so.
  const isOpen = endsWith(said, openEndings, writing)
  if (isOpen) return isQuestion ? 'plain' : 'open'
  const isYesOrNoAsked = asksYesOrNo(asked, language)
  if (isYesOrNoAsked && isYesOrNo(spoken, language)) return 'answer'
  if (isQuestion) return endsWith(said, looseEndings, writing) ? 'closed' : 'question'
  if (endsWith(said, looseEndings, writing)) return mark === '' ? 'loose' : 'plain'
  const countsWords = writing === 'spaced'
  const isLong = countsWords && spoken.length > MAX_SHORT_WORDS
  const isBrief = countsWords && spoken.length <= MAX_BRIEF_WORDS
  if (mark !== '') return isLong ? 'plain' : isBrief ? 'brief' : 'closed'
  if (isLong) return 'told'
  if (isYesOrNoAsked) return 'brief'
  return punctuates ? 'plain' : 'bare'
}

/** The words are a number or letters that are given piece by piece. */
function dictation(
  spoken: readonly string[],
  asked: string,
  { dictation: table, writing }: Language,
): Ending | undefined {
  const isNumeral = (word: string) => /^\p{N}+$/u.test(word)
  const isDigits = (word: string) => isNumeral(word) || table.digits.has(word)
  const isLetter = (word: string) => writing === 'spaced' && /^\p{L}$/u.test(word)
  const digitsIn = (words: readonly string[]) =>
    words.reduce((sum, word) => sum + (isNumeral(word) ? word.length : isDigits(word) ? 1 : 0), 0)
  const row = spoken.slice(spoken.findLastIndex((word) => !isDigits(word) && !isLetter(word)) + 1)
  const question = plain(asked.slice(-MAX_TAIL_CHARS))
  const inRow = digitsIn(row) + row.filter((word) => !isDigits(word)).length
  const isAsked = (digitsIn(row) > 0 ? table.asksNumber : table.asksSpelling).test(question)
  // One behind other words may be a word itself: "I don't have one."
  const least = !isAsked ? DICTATED_IN_A_ROW : row.length === spoken.length ? 1 : 2
  if (inRow < least) return undefined
  if (!table.asksPhone.test(question)) return isAsked && inRow < LEAST_DICTATED ? 'open' : 'dictated'
  const digits = digitsIn(spoken)
  return digits < LEAST_PHONE_DIGITS ? 'open' : digits < table.phoneDigits ? 'dictated' : 'answer'
}

/** The last words of the agent are a question that a yes or a no answers. */
function asksYesOrNo(asked: string, { asksOpenly }: Language): boolean {
  const question = /[^.!?。！？]*[?？]["')\]]*\s*$/u.exec(asked.slice(-MAX_TAIL_CHARS))?.[0]
  return question !== undefined && !asksOpenly.test(plain(question))
}

function isYesOrNo(spoken: readonly string[], { consent }: Language): boolean {
  const { yes, alone, no, beside } = consent
  return spoken.length <= MAX_ANSWER_WORDS && phrasesIn(spoken, yes, alone, no, beside) !== undefined
}

function endsWithPhrase(spoken: readonly string[], phrases: Language['holdOns']): boolean {
  return spoken.some((_, from) => [...phrases.lengthsAt(spoken, from)].includes(spoken.length - from))
}

function endsWith(said: string, endings: ReadonlySet<string>, writing: Language['writing']): boolean {
  const words = said.toLowerCase().replaceAll('’', "'")
  if (writing === 'unspaced') return [...endings].some((ending) => words.endsWith(ending))
  const [pair, before, last] = /(?:([\p{L}\p{M}']+)\s+)?([\p{L}\p{M}']+)$/u.exec(words) ?? []
  return pair !== undefined && last !== undefined && (endings.has(last) || endings.has(`${before}_${last}`))
}

/** Share of the pauses that are longer. */
function shareLonger(silenceMs: number): number {
  const above = LONGER_PAUSES.findIndex(([ms]) => ms >= silenceMs)
  if (above === 0) return 1
  const [[fromMs, fromShare], [toMs, toShare]] = neighbours(above)
  return fromShare * (toShare / fromShare) ** ((silenceMs - fromMs) / (toMs - fromMs))
}

/** The length that only such a share of the pauses reaches. */
function silenceAt(share: number): number {
  const below = LONGER_PAUSES.findIndex(([, longer]) => longer <= share)
  if (below === 0) return 0
  const [[fromMs, fromShare], [toMs, toShare]] = neighbours(below)
  return fromMs + ((toMs - fromMs) * Math.log(share / fromShare)) / Math.log(toShare / fromShare)
}

function neighbours(above: number) {
  const to = above < 0 ? LONGER_PAUSES.length - 1 : above
  return [LONGER_PAUSES[to - 1]!, LONGER_PAUSES[to]!] as const
}

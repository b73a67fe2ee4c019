import type { AgentSpec } from '../../call/types/agent-spec.ts'
import type { Language } from '../languages/language.ts'

/** How long a silence ends a turn, by how sure the model is. Between the points: straight lines. */
const DELAY_CURVE: readonly (readonly [probability: number, delayMs: number])[] = [
  [0, 1600],
  [0.1, 1200],
  [0.2, 700],
  [0.3, 380],
  [0.45, 220],
  [0.6, 140],
]
/** What a closed or an open sentence adds to or takes from the model's opinion. */
const CLOSED_SENTENCE_BONUS = 0.2
/** On top of it for a question, whose caller waits for the answer; in full where the model isn't sure of the opposite. */
const QUESTION_BONUS = 0.15
const NOT_OVER = 0.1
const OPEN_SENTENCE_LIMIT = 0.12
/** Of a word that stands before more as often as at the end. */
const LOOSE_SENTENCE_LIMIT = 0.3
/** How much of the end is looked at: what ends a sentence, and its last word. */
const MAX_TAIL_CHARS = 200

/** The model's opinion, corrected by how the words end. */
export function weighWords(
  probability: number,
  text: string,
  language: Pick<Language, 'openEndings' | 'looseEndings' | 'writing'>,
): number {
  const trimmed = text.slice(-MAX_TAIL_CHARS).trim()
  const ending = /[.?!。？！…,、]*$/u.exec(trimmed)?.[0] ?? ''
  if (/(?:\.\.\.|…|,|、)$/u.test(ending)) return Math.min(probability, OPEN_SENTENCE_LIMIT)
  const isQuestion = /[?？]$/u.test(ending)
  const said = trimmed.slice(0, trimmed.length - ending.length)
  // A recogniser sets its full stop behind half a sentence, too; a question is one.
  if (!isQuestion && endsWith(said, language.openEndings, language.writing)) {
    return Math.min(probability, OPEN_SENTENCE_LIMIT)
  }
  if (ending === '') {
    return endsWith(said, language.looseEndings, language.writing)
      ? Math.min(probability, LOOSE_SENTENCE_LIMIT)
      : probability
  }
  const asked = isQuestion ? QUESTION_BONUS * Math.min(1, probability / NOT_OVER) : 0
  return Math.min(1, probability + CLOSED_SENTENCE_BONUS + asked)
}

function endsWith(said: string, endings: ReadonlySet<string>, writing: Language['writing']): boolean {
  const words = said.toLowerCase().replaceAll('’', "'")
  if (writing === 'unspaced') return [...endings].some((ending) => words.endsWith(ending))
  const [pair, before, last] = /(?:([\p{L}\p{M}']+)\s+)?([\p{L}\p{M}']+)$/u.exec(words) ?? []
  return pair !== undefined && last !== undefined && (endings.has(last) || endings.has(`${before}_${last}`))
}

/** Silence in milliseconds, from the end of speech, that ends a turn of which the model is so sure. */
export function endpointingDelayMs(probability: number): number {
  let [fromP, fromMs] = DELAY_CURVE[0]!
  for (const [p, ms] of DELAY_CURVE) {
    if (probability < p) return fromMs + ((probability - fromP) / (p - fromP)) * (ms - fromMs)
    fromP = p
    fromMs = ms
  }
  return fromMs
}

/** How much longer or shorter a silence is than balanced, and what it is at least and at most. */
const MODES = {
  eager: { factor: 0.6, leastMs: 100, mostMs: 900 },
  balanced: { factor: 1, leastMs: 0, mostMs: 1_600 },
  patient: { factor: 1.8, leastMs: 400, mostMs: 3_000 },
} as const

/** The curve of an agent that lets its callers pause for shorter or longer. */
export function endpointingDelay(mode: AgentSpec['endpointing'] = 'balanced'): (probability: number) => number {
  const { factor, leastMs, mostMs } = MODES[mode]
  return (probability) => Math.min(mostMs, Math.max(leastMs, factor * endpointingDelayMs(probability)))
}

/** How long a silence after these words ends the turn, if the model is so sure that it is over: milliseconds. */
export type TurnSilence = (probability: number, text: string) => number

/** The surer the model and the words, the shorter the silence. @param delayMs the curve, from the probability */
export function turnSilence(delayMs: (probability: number) => number, language: () => Language): TurnSilence {
  return (probability, text) => delayMs(weighWords(probability, text, language()))
}

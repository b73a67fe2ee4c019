import type { Language } from './language.ts'
import { type PhraseList, phrasesIn, spokenWords } from './phrase-list.ts'

/** What an answer to "may we record?" says. `not_understood`: the question is to be asked again. */
type ConsentAnswer = 'given' | 'refused' | 'not_understood'

/** Who talks longer than this has answered at the end of it, if at all. */
const MAX_SAID_CHARS = 2_000
/** A yes of more words holds something else. */
const MAX_YES_WORDS = 12
/** So many characters of a language without blanks. */
const MAX_YES_CHARS = 24
/** Longer answers in another language than the agent's are not read. */
const MAX_FOREIGN_WORDS = 2
const MAX_FOREIGN_CHARS = 8

/**
 * What was said after the question was heard, as an answer to it; undefined: it is none. A yes is made of words of consent and of
 * nothing else: whatever else is said (a greeting, a question, a condition) makes it no consent.
 */
export function readConsent(
  text: string,
  language: Language,
  others: readonly Language[] = [],
): ConsentAnswer | undefined {
  const { consent, writing } = language
  const said = text.slice(-MAX_SAID_CHARS)
  const words = spokenWords(said, writing)
  if (words.length === 0) return undefined
  const asked = /[?？¿]/u.test(said)
  if (consent.two.is(said)) return 'refused'
  if (consent.one.is(said)) return asked ? undefined : 'given'
  if (consent.rhetorical.is(said)) return 'given'
  const joined = words.join(writing === 'spaced' ? ' ' : '')
  if (consent.unclear.some((pattern) => pattern.test(joined) || (asked && pattern.test(`${joined}?`))))
    return 'not_understood'
  if (!asked && isYes(words, language, said)) return 'given'
  if (consent.refuses.some((pattern) => pattern.test(joined)) || beginsWith(words, consent.lead, consent.no))
    return 'refused'
  return foreign(said, asked, language, others)
}

/** 1 is yes, 2 is no. */
export function keyedConsent(digit: string): 'given' | 'refused' | undefined {
  return digit === '1' ? 'given' : digit === '2' ? 'refused' : undefined
}

function isYes(words: readonly string[], { consent, writing }: Language, said: string): boolean {
  if (consent.alone.is(said)) return true
  if (words.length > (writing === 'spaced' ? MAX_YES_WORDS : MAX_YES_CHARS)) return false
  const { yes, lead, beside } = consent
  return beginsWith(words, lead, yes) && phrasesIn(words, yes, lead, beside) !== undefined
}

/** One of the phrases comes first, after hesitations. */
function beginsWith(words: readonly string[], lead: PhraseList, phrases: PhraseList): boolean {
  const reached = new Set([0])
  for (let from = 0; from < words.length; from++) {
    if (!reached.has(from)) continue
    if (!phrases.lengthsAt(words, from).next().done) return true
    for (const length of lead.lengthsAt(words, from)) reached.add(from + length)
  }
  return false
}

/** People say a bare yes or no in their own language. */
function foreign(
  said: string,
  asked: boolean,
  language: Language,
  others: readonly Language[],
): ConsentAnswer | undefined {
  const words = spokenWords(said).length
  if (words > MAX_FOREIGN_WORDS || said.trim().length > MAX_FOREIGN_WORDS * MAX_FOREIGN_CHARS) return undefined
  const abroad = others.filter(({ code }) => code !== language.code).map(({ consent }) => consent.abroad)
  if (abroad.some(({ no }) => no.is(said))) return 'refused'
  return !asked && abroad.some(({ yes }) => yes.is(said)) ? 'given' : undefined
}

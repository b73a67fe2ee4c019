import { splitSentences } from '../../runtime/plugin-sdk/speech/sentences.ts'
import { Bm25 } from './bm25.ts'
import { LANGUAGES, languageOf } from './languages/index.ts'
import type { Language } from './languages/language.ts'
import { detectLanguage, type QuestionTerm, questionTerms, terms, words } from './words.ts'

/** What is known when an answer is due. */
interface Conversation {
  /** Texts that hold the facts: the system prompt first, then retrieved passages. */
  sources: readonly string[]
  turns: readonly { role: 'user' | 'assistant'; text: string }[]
  /**
   * A language tag; absent, English or `multi`: detected from the prompt. A question in another known language is answered in that.
   */
  language?: string | undefined
}

/** The share of a question's weight a sentence must hold to count as its answer. */
export const MIN_COVERAGE = 0.45
/** What a synonym is worth beside the word itself. */
const ALIKE_WEIGHT = 0.6
/** What a question word ("where") is worth beside a topic. */
const HINT_WEIGHT = 0.3
/** What the previous question adds to the ranking of a follow-up ("and on Sundays?"). */
const PREVIOUS_WEIGHT = 0.2
/** A second sentence is added when it is nearly as good, and the answer stays short enough to listen to. */
const SECOND_SENTENCE = 0.7
const MAX_WORDS = 40
/** So few don't tell a language. */
const MAX_SHORT_WORDS = 2
/** It runs beside the calls of a process: longer texts are answered by what fits. */
const MAX_QUESTION_CHARS = 1_000
const MAX_SOURCE_CHARS = 60_000

/** Answers with sentences of the sources, or says that it doesn't know: it never makes up a fact. */
export function answer({ sources, turns, language: tag }: Conversation): string {
  const questions = turns.filter((turn) => turn.role === 'user')
  const question = asked(questions.at(-1)?.text)
  const language = languageOfQuestion(sources, question, tag)
  const polite = smallTalk(question, turns, sources, language)
  if (polite !== undefined) return polite
  const wanted = questionTerms(question, language)
  if (wanted.length === 0) return language.say.prompt
  const previous = questionTerms(asked(questions.at(-2)?.text), language)
  return retrieve(indexOf(sources, language), wanted, previous) ?? language.say.unknown
}

/** The language a question is answered in. */
export function languageOfQuestion(sources: readonly string[], question: string, tag: string | undefined): Language {
  const known = languageOfSources(sources, tag)
  // "Dos noches" is no Portuguese: a word or two of another language are words of this one as well.
  if (known !== LANGUAGES[0] && words(question).length <= MAX_SHORT_WORDS) return known
  return detectLanguage(question, known)
}

const spoken = new WeakMap<readonly string[], Language>()

function languageOfSources(sources: readonly string[], tag: string | undefined): Language {
  const named = languageOf(tag)
  // English is also what an agent has that names none.
  if (named !== LANGUAGES[0]) return named
  const known = spoken.get(sources) ?? detectLanguage(withoutOrders(sources[0] ?? ''), named)
  spoken.set(sources, known)
  return known
}

/** How much of a question's weight the best sentence of the sources holds: 0–1. */
export function answersFrom(sources: readonly string[], question: string, language: Language): number {
  const wanted = questionTerms(question, language)
  if (wanted.length === 0) return 0
  const { known, index } = indexOf(sources, language)
  return known.reduce((best, _, document) => Math.max(best, coverage(index, document, wanted)), 0)
}

/** The facts of one answer's sources by language, for all the questions asked of them. */
const indexes = new WeakMap<readonly string[], Map<Language, { known: Fact[]; index: Bm25 }>>()

function indexOf(sources: readonly string[], language: Language): { known: Fact[]; index: Bm25 } {
  const of = indexes.get(sources) ?? new Map()
  indexes.set(sources, of)
  let found = of.get(language)
  if (found === undefined) {
    const known = facts(sources, language)
    found = { known, index: new Bm25(known.map((fact) => fact.terms)) }
    of.set(language, found)
  }
  return found
}

/** Of a long message its end asks. */
export const asked = (text = ''): string => text.slice(-MAX_QUESTION_CHARS)

/** Whether the words ask for nothing: a greeting, thanks, a goodbye. */
export function isSmallTalk(text: string, language: Language): boolean {
  return smallTalk(text, [], [], language) !== undefined
}

function smallTalk(
  question: string,
  turns: Conversation['turns'],
  sources: readonly string[],
  language: Language,
): string | undefined {
  const said = words(question).join(' ')
  const { say } = language
  if (said === '' || language.greeting.test(said)) return say.greeting
  if (language.farewell.test(said)) return say.farewell
  if (language.thanks.test(said)) return say.thanks
  if (language.howAreYou.test(said)) return say.howAreYou
  if (language.repeat.test(said)) {
    return turns.findLast((turn) => turn.role === 'assistant')?.text ?? say.nothingToRepeat
  }
  if (language.whoAreYou.test(said)) return introduction(sources, language) ?? say.whoAreYou
  return undefined
}

/** A sentence that can be said, and the text it is found by: a question of an FAQ belongs to its answer. */
interface Fact {
  text: string
  terms: string[]
  /** Where it stands, so that two sentences are said in the order written. */
  position: number
}

function facts(sources: readonly string[], language: Language): Fact[] {
  const found: Fact[] = []
  const seen = new Set<string>()
  let asked = ''
  for (const sentence of sentencesOf(sources, language)) {
    if (/[?？]$/.test(sentence)) {
      asked = sentence
      continue
    }
    const text = sayable(sentence, language)
    if (text !== undefined && !seen.has(text)) {
      seen.add(text)
      found.push({ text, terms: terms(`${asked} ${text}`, language), position: found.length })
    }
    asked = ''
  }
  return found
}

function retrieve(
  { known, index }: { known: readonly Fact[]; index: Bm25 },
  asked: readonly QuestionTerm[],
  previous: readonly QuestionTerm[],
): string | undefined {
  const ranked = known
    .map((fact, document) => ({
      fact,
      coverage: coverage(index, document, asked),
      score: relevance(index, document, asked) + PREVIOUS_WEIGHT * relevance(index, document, previous),
    }))
    .filter((candidate) => candidate.coverage >= MIN_COVERAGE && candidate.score > 0)
    .sort((a, b) => b.score - a.score || a.fact.position - b.fact.position)
  const [best, second] = ranked
  if (!best) return undefined
  const both = second && second.score >= SECOND_SENTENCE * best.score ? [best.fact, second.fact] : [best.fact]
  both.sort((a, b) => a.position - b.position)
  const text = both.map((fact) => fact.text).join(' ')
  return words(text).length <= MAX_WORDS ? text : best.fact.text
}

/** The part of the question's weight that a sentence speaks of: 0–1. A topic no sentence has weighs most. */
function coverage(index: Bm25, document: number, asked: readonly QuestionTerm[]): number {
  let total = 0
  let held = 0
  const onlyHints = asked.every((term) => term.hint)
  for (const { term, alike, hint } of asked) {
    const weight = index.inverseFrequency(term) * (hint && !onlyHints ? HINT_WEIGHT : 1)
    total += weight
    if (index.has(document, term)) held += weight
    else if (hasAny(index, document, alike)) held += weight * (onlyHints ? 1 : ALIKE_WEIGHT)
  }
  return total === 0 ? 0 : held / total
}

function relevance(index: Bm25, document: number, asked: readonly QuestionTerm[]): number {
  let score = 0
  for (const { term, alike, hint } of asked) {
    const weight = hint ? HINT_WEIGHT : 1
    score += weight * index.score(document, term)
    let best = 0
    for (const other of alike) best = Math.max(best, index.score(document, other))
    score += weight * ALIKE_WEIGHT * best
  }
  return score
}

function hasAny(index: Bm25, document: number, alike: ReadonlySet<string>): boolean {
  for (const term of alike) if (index.has(document, term)) return true
  return false
}

/** The prompt as the operator wrote it: the orders behind it tell nothing of its language. */
function withoutOrders(prompt: string): string {
  const at = prompt.lastIndexOf('\n\n')
  const added = at < 0 ? [] : splitSentences(prompt.slice(at)).map((sentence) => words(sentence).join(' '))
  const isOrder = (said: string): boolean => LANGUAGES.some(({ instruction }) => instruction.test(said))
  return added.length > 0 && added.every(isOrder) ? prompt.slice(0, at) : prompt
}

/** A sentence as it can be said to a caller, or undefined for an order to the agent. */
function sayable(sentence: string, language: Language): string | undefined {
  const identity = identityOf(sentence, language)
  if (identity !== undefined) return identity
  const said = words(sentence).join(' ')
  // Instructions may be in English, independent of the facts' language.
  return language.instruction.test(said) || LANGUAGES[0].instruction.test(said) ? undefined : sentence
}

/** "You are Ava, the receptionist of Harbour Dental." → "I'm Ava, the receptionist of Harbour Dental." */
function identityOf(sentence: string, language: Language): string | undefined {
  const { match, says } = language.identity
  return match.test(sentence) ? sentence.replace(match, says) : undefined
}

function introduction(sources: readonly string[], language: Language): string | undefined {
  for (const sentence of sentencesOf(sources, language)) {
    const identity = identityOf(sentence, language)
    if (identity !== undefined) return identity
  }
  return undefined
}

/** Lines are sentences of their own; Markdown and the numbers of passages are not spoken. */
function* sentencesOf(sources: readonly string[], language: Language): Generator<string> {
  let left = MAX_SOURCE_CHARS
  for (const source of sources) {
    const read = source.slice(0, left)
    left -= read.length
    for (const whole of read.split('\n')) {
      const line = whole.trim()
      if (/^(?:#|\|[\s:|-]+$|---|```)/.test(line)) continue
      for (const sentence of splitSentences(plain(line), language.code)) {
        if (words(sentence).length > 1 && !/:$/.test(sentence)) yield sentence
      }
    }
  }
}

function plain(line: string): string {
  return line
    .replace(/^\s*(?:[-*•>]|\d+[.)]|\[[^\]]+\](?!\()|[QA]:)\s+/, '')
    .replace(/!?\[([^[\]]*)\]\([^()]*\)/g, '$1')
    .replace(/[*_`~]{1,3}(?=\S)|(?<=\S)[*_`~]{1,3}/g, '')
    .replace(/\s+/g, ' ')
    .replace(/ ?\| ?/g, ', ')
    .trim()
}

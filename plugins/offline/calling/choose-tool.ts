import type { Language } from '../languages/language.ts'
import { type QuestionTerm, questionTerms, stem } from '../words.ts'
import type { KnownTool } from './known-tool.ts'
import { spokenValues } from './spoken-values.ts'

export interface Choice {
  tool: KnownTool
  /** The share of the words' weight that speaks of the tool: 0–1. */
  coverage: number
}

/** A tool that most of the words speak of. */
const MIN_COVERAGE = 0.6
/** Less is enough where a word names its deed, and less still where two do. */
const MIN_COVERAGE_OF_DEED = 0.4
const MIN_COVERAGE_OF_NAME = 0.15
/** What a word must weigh to speak of a tool, and to name it. */
const SPEAKS = 0.5
const NAMES = 0.7
const HINT_WEIGHT = 0.3

/** The tool a caller asks for, best first; empty where their words speak of none. */
export function chooseTool(text: string, tools: readonly KnownTool[], language: Language, nowMs: number): Choice[] {
  const values = spokenValues(text, language, nowMs)
  const read = new Map<string, QuestionTerm[]>()
  /** The words that are no value of a parameter. */
  const topics = (tool: KnownTool): QuestionTerm[] => {
    const takesDays = tool.parameters.some(({ kind }) => ['date', 'day', 'moment', 'choice'].includes(kind))
    const takesNames = tool.parameters.some(({ kind }) => kind === 'name')
    const key = `${takesDays} ${takesNames}`
    const known = read.get(key)
    if (known !== undefined) return known
    let left = text
    for (const { kind, start, end } of values) {
      if (kind !== 'date' || takesDays) left = left.slice(0, start) + ' '.repeat(end - start) + left.slice(end)
    }
    if (takesNames) left = withoutName(left, language)
    const terms = questionTerms(left, language, groupsOf(language))
    read.set(key, terms)
    return terms
  }
  return tools
    .map((tool) => ({ tool, ...judge(topics(tool), tool, language) }))
    .filter(({ coverage, deeds, names }) => {
      const least = names > 1 ? MIN_COVERAGE_OF_NAME : deeds > 0 ? MIN_COVERAGE_OF_DEED : MIN_COVERAGE
      return coverage >= least
    })
    .sort((a, b) => b.coverage - a.coverage)
}

function judge(
  asked: readonly QuestionTerm[],
  tool: KnownTool,
  language: Language,
): { coverage: number; deeds: number; names: number } {
  let total = 0
  let held = 0
  let speaks = false
  let deeds = 0
  let names = 0
  for (const one of asked) {
    const weight = one.hint ? HINT_WEIGHT : 1
    const strength = tool.weightOf(one)
    total += weight
    held += weight * strength
    speaks ||= strength > SPEAKS
    if (strength >= NAMES) {
      if (!one.hint) names++
      if (deedsOf(language).has(one.term)) deeds++
    }
  }
  return { coverage: speaks && total > 0 ? held / total : 0, deeds, names }
}

/** "under the name Maria Smith" names nothing to do. */
function withoutName(text: string, { calling }: Language): string {
  const lead = calling.nameLead.exec(text)
  if (lead === null) return text
  const behind = text.slice(lead.index + lead[0].length)
  const name = /^(?:\p{Lu}[\p{L}'’-]*\s*){1,4}/u.exec(behind)?.[0] ?? ''
  return name === '' ? text : `${text.slice(0, lead.index)} ${behind.slice(name.length)}`
}

const groups = new WeakMap<Language, Language['synonyms']>()
const deedTerms = new WeakMap<Language, ReadonlySet<string>>()

/** The same list each time, for what is known of it is remembered. */
function groupsOf(language: Language): Language['synonyms'] {
  const known = groups.get(language) ?? [...language.calling.deeds, ...language.synonyms]
  groups.set(language, known)
  return known
}

function deedsOf(language: Language): ReadonlySet<string> {
  let known = deedTerms.get(language)
  if (known === undefined) {
    known = new Set(language.calling.deeds.flat().flatMap((word) => [word, stem(word, language)]))
    deedTerms.set(language, known)
  }
  return known
}

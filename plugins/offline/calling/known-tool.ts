import type { Tool } from '../../../packages/plugin/mod.ts'
import type { Language } from '../languages/language.ts'
import { foldedWords, type QuestionTerm, stem } from '../words.ts'
import { type Parameter, parametersOf, spokenName } from './parameters.ts'

/** A tool that can be called by matching words. */
export interface KnownTool {
  name: string
  parameters: readonly Parameter[]
  required: readonly Parameter[]
  /** Ends the call: a goodbye is enough to call it. */
  isGoodbye: boolean
  /** Looks words up: the last resort for a question. */
  isLookup: boolean
  /** How much a term of the caller's words speaks of it: 0–1. */
  weightOf(term: QuestionTerm): number
}

/** An agent with more tools is served by the first ones. */
const MAX_TOOLS = 64
const MAX_DESCRIPTION = 200
const NAME_WEIGHT = 1
const DESCRIPTION_WEIGHT = 0.8
const PARAMETER_WEIGHT = 0.5
const ALIKE_WEIGHT = 0.7
/** Words of descriptions that tell tools from nothing. */
const BOILERPLATE = new Set(
  `call caller callers use used using tool tools user users customer customers when this returns return given value function
  anrufer kunde kunden anruf nutze verwende wenn llamante cliente llamada appelant client appel chiamante chiamata
  chamador chamada`.split(/\s+/),
)
const GOODBYE =
  /\b(?:hang ?up|end(?:s|ing)? (?:the |this )?call|end call|goodbye|auflegen|legt auf|beendet?n? (?:den |das )?(?:anruf|gesprach|telefonat)|colgar|cuelga|raccroche\w*|riaggancia\w*|deslig\w*|encerra\w*)\b/
const LOOKUP =
  /\b(?:knowledge|documents?|look(?:s|up)?(?: up)?|search(?:es)?|dokumente?|wissen|nachschlag\w*|sucht?|documentos?|busca\w*|documents|cherche\w*|documenti|cerca\w*|procura\w*)\b/

export function knownTools(tools: readonly Tool[], language: Language): KnownTool[] {
  return tools.slice(0, MAX_TOOLS).flatMap((tool) => {
    const parameters = parametersOf(tool.parameters)
    return parameters === undefined ? [] : [knownTool(tool, parameters, language)]
  })
}

function knownTool(tool: Tool, parameters: readonly Parameter[], language: Language): KnownTool {
  const weights = new Map<string, number>()
  const add = (words: readonly string[], weight: number): void => {
    for (const word of words) {
      if (language.stopWords.has(word) || (weight < NAME_WEIGHT && BOILERPLATE.has(word))) continue
      const term = stem(word, language)
      weights.set(term, Math.max(weights.get(term) ?? 0, weight))
    }
  }
  const name = foldedWords(spokenName(tool.name))
  const description = foldedWords(tool.description.slice(0, MAX_DESCRIPTION))
  add(name, NAME_WEIGHT)
  add(description, DESCRIPTION_WEIGHT)
  for (const { words, choices, kind } of parameters) {
    add(words, PARAMETER_WEIGHT)
    // What is chosen among is what the tool is about; a day of the week is not.
    if (kind === 'choice')
      add(
        choices.flatMap((choice) => foldedWords(String(choice))),
        PARAMETER_WEIGHT,
      )
  }
  const required = parameters.filter((parameter) => parameter.required)
  const told = `${name.join(' ')} ${description.join(' ')}`
  return {
    name: tool.name,
    parameters,
    required,
    isGoodbye: required.length === 0 && GOODBYE.test(told),
    isLookup: required.length === 1 && required[0]?.kind === 'words' && LOOKUP.test(told),
    weightOf({ term, alike }) {
      let best = weights.get(term) ?? 0
      for (const other of alike) best = Math.max(best, ALIKE_WEIGHT * (weights.get(other) ?? 0))
      return best
    },
  }
}

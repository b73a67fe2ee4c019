import { baseOf, languageOf, MULTI } from './index.ts'

const FOLLOW = 'Answer in the language the caller speaks.'

/**
 * An agent's prompt with the order to speak its language. English is what models speak by themselves, and what an agent has that
 * names none: its prompt alone decides.
 */
export function instructionsFor(systemPrompt: string, language: string | undefined): string {
  const base = baseOf(language ?? 'en')
  if (base === 'en') return systemPrompt
  return `${systemPrompt}\n\n${base === MULTI ? FOLLOW : languageOf(language).instruction}`
}

import { baseOf, languageOf, type Manner, MULTI } from './index.ts'

const FOLLOW = 'Answer in the language the caller speaks.'

/**
 * An agent's prompt with the orders to speak its language and to say what it is when asked. English is what models speak by themselves,
 * and what an agent has that names none: its prompt alone decides, unless a region or a tone was chosen.
 */
export function instructionsFor(systemPrompt: string, language: string | undefined, manner: Manner = {}): string {
  const { orders } = languageOf(language, manner)
  const base = baseOf(language ?? 'en')
  const isPlainEnglish = base === 'en' && orders.language === languageOf('en').orders.language
  const order = isPlainEnglish ? [] : [base === MULTI ? FOLLOW : orders.language]
  return [systemPrompt, [...order, orders.sayAi].join(' ')].join('\n\n')
}

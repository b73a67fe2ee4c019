import { api } from '../data/api.ts'
import type { Agent, AgentInput } from '../data/types.ts'
import { language } from '../language/language.ts'
import { t } from '../language/t.ts'
import tools from './agent-samples/tools.json'

/** The trades that agents to begin with are written for. */
export const TRADES = {
  front_desk: t('Front desk'),
  bookings: t('Bookings'),
  support: t('Support'),
  survey: t('Survey'),
} as const
export type Trade = keyof typeof TRADES

/** The languages they are written in. */
export const SAMPLE_LANGUAGES = {
  en: 'English',
  de: 'Deutsch',
  fr: 'Français',
  es: 'Español',
  it: 'Italiano',
  pt: 'Português',
} as const
export type SampleLanguage = keyof typeof SAMPLE_LANGUAGES

/** That of the page where samples are written in it, else English. */
export const sampleLanguage: SampleLanguage = Object.hasOwn(SAMPLE_LANGUAGES, language)
  ? (language as SampleLanguage)
  : 'en'

type Sample = Required<Pick<AgentInput, 'agent_name' | 'first_message' | 'system_prompt'>>

const TEXTS: Readonly<Record<SampleLanguage, () => Promise<{ default: Readonly<Record<Trade, Sample>> }>>> = {
  en: () => import('./agent-samples/en.json'),
  de: () => import('./agent-samples/de.json'),
  fr: () => import('./agent-samples/fr.json'),
  es: () => import('./agent-samples/es.json'),
  it: () => import('./agent-samples/it.json'),
  pt: () => import('./agent-samples/pt.json'),
}

/** What an agent of this trade says and knows. */
export async function sampleOf(trade: Trade, language: SampleLanguage): Promise<Sample> {
  return (await TEXTS[language]()).default[trade]
}

/** What it works with: tools of the demo in its language, and one that hangs up. */
export const sampleTools = (trade: Trade, language: SampleLanguage): AgentInput['tools'] => [
  { type: 'mcp', plugin: 'demo', allow: tools[trade].map((name) => `${name}_${language}`) },
  { type: 'hang_up', name: 'end_call', description: 'Ends the call when the caller has said goodbye.' },
]

/** An agent in the language of the page, or English, that answers with what the defaults of the installation offer. */
export async function makeSampleAgent(): Promise<Agent> {
  const tools = sampleTools('front_desk', sampleLanguage)
  const body = { ...(await sampleOf('front_desk', sampleLanguage)), language: sampleLanguage, tools }
  return api<Agent>('/agents', { method: 'POST', body })
}

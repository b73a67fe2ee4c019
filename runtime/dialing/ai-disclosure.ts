import { countryOfNumber } from './country-of-number.ts'

/** When an agent says that it is an AI. `auto`: on the telephone, where a law wants it. */
export const AI_DISCLOSURES = ['auto', 'before', 'after', 'off'] as const
type AiDisclosure = (typeof AI_DISCLOSURES)[number]

/** Regulation (EU) 2024/1689, Art. 50(1) and (5), applies from 2 August 2026; the states of the EEA take it over. */
const AI_ACT = 'AT BE BG HR CY CZ DK EE FI FR DE GR HU IE IT LV LT LU MT NL PL PT RO SK SI ES SE IS LI NO'.split(' ')
/** Framework Act on the Development of Artificial Intelligence, Art. 31, applies from 22 January 2026. */
const KOREAN_AI_ACT = ['KR']

/** Countries whose law wants people told that they talk with an AI. Data, not legal advice: docs/consent.md. */
const COUNTRIES: ReadonlySet<string> = new Set([...AI_ACT, ...KOREAN_AI_ACT])

/**
 * When the agent says it; undefined: not by itself.
 * @param numbers of the caller and of the callee; none: no telephone call
 * @param alreadySays its own first message says so
 */
export function disclosureOf(
  mode: AiDisclosure,
  { numbers, alreadySays }: { numbers: readonly string[]; alreadySays: boolean },
): 'before' | 'after' | undefined {
  if (mode !== 'auto') return mode === 'off' ? undefined : mode
  if (alreadySays) return undefined
  return numbers.some(isWanted) ? 'after' : undefined
}

function isWanted(number: string): boolean {
  const country = countryOfNumber(number)
  return country !== undefined && COUNTRIES.has(country)
}

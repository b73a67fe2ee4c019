import { parsePhoneNumberFromString } from 'libphonenumber-js/min'
import type { AgentSpec } from '../../call/types/agent-spec.ts'

/** The country of telephone numbers that are said without one: the caller's, the region of the language, or the language's own. */
export function countryOfCall(
  { callerNumber }: Pick<AgentSpec, 'callerNumber'>,
  tag: string,
  otherwise: string,
): string {
  const caller = callerNumber === undefined ? undefined : parsePhoneNumberFromString(callerNumber)?.country
  const [, region] = /^[a-z]{2,3}-([A-Za-z]{2})\b/.exec(tag) ?? []
  return caller ?? region?.toUpperCase() ?? otherwise
}

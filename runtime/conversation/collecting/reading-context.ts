import { parsePhoneNumberFromString } from 'libphonenumber-js/min'
import type { AgentSpec } from '../../call/types/agent-spec.ts'
import { regionOf } from '../languages/index.ts'
import { spokenFormsOf } from './languages/index.ts'
import type { ReadingContext } from './reading.ts'

/** What is known where a caller of the agent answers in the language of a tag. */
export function readingContext(
  agent: Pick<AgentSpec, 'callerNumber' | 'timeZone'>,
  tag: string,
  nowMs: number,
): ReadingContext {
  const forms = spokenFormsOf(tag)
  return { forms, tag, country: countryOf(agent, tag) ?? forms.country, timeZone: agent.timeZone ?? 'UTC', nowMs }
}

/** The caller's country, else the one of the tag. */
function countryOf({ callerNumber = '' }: Pick<AgentSpec, 'callerNumber'>, tag: string): string | undefined {
  const region = regionOf(tag)
  // A region of digits is more than one country: `es-419`.
  return parsePhoneNumberFromString(callerNumber)?.country ?? (/^[A-Z]{2}$/.test(region ?? '') ? region : undefined)
}

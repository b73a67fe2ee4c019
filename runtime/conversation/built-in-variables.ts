import type { Variables } from './variables.ts'

/** What is known of a call or chat before anybody says anything. */
export interface CallFacts {
  nowMs: number
  /** Empty: UTC. */
  timeZone: string
  /** BCP 47, or `multi`. */
  language: string
  agentName: string
  callId?: string | undefined
  direction?: 'inbound' | 'outbound' | undefined
  callerNumber?: string | null | undefined
  calledNumber?: string | null | undefined
}

/** The names of the variables every conversation has. */
export const BUILT_IN_NAMES: ReadonlySet<string> = new Set([
  'now',
  'today',
  'weekday',
  'time',
  'caller_number',
  'called_number',
  'call_id',
  'direction',
  'agent_name',
])

/**
 * The variables every conversation has, in the agent's language and time zone. `today` and `weekday` stay the same for a day, so
 * that prompts that name the day alone are still cached.
 */
export function builtInVariables(facts: CallFacts): Variables {
  const { nowMs, timeZone, language, agentName, callId = '', direction = '' } = facts
  const now = new Date(nowMs)
  const written = (style: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat(language === 'multi' ? 'en-GB' : language, {
      ...style,
      timeZone: timeZone || 'UTC',
    }).format(now)
  return {
    now: written({ dateStyle: 'full', timeStyle: 'short' }),
    today: written({ dateStyle: 'full' }),
    weekday: written({ weekday: 'long' }),
    time: written({ timeStyle: 'short' }),
    caller_number: facts.callerNumber ?? '',
    called_number: facts.calledNumber ?? '',
    call_id: callId,
    direction,
    agent_name: agentName,
  }
}

import type { EventOf } from '../log/events.ts'
import type { CallState } from '../log/fold.ts'
import type { AgentSpec } from '../types/agent-spec.ts'
import { MAX_HANDOFFS } from '../types/hand-off.ts'

/** The agent that a call is handed to, and what goes with it. */
export interface HandoffOrder {
  /** As the call goes on with it: without a greeting. */
  agent: AgentSpec
  /** What it lacks, in sentences for the log. */
  faults: readonly string[]
  reason: string
  carries: EventOf<'handed_off'>['carries']
  summary?: string
  /** The agent that has the call can't take it: `agent` had it before. */
  failed?: boolean
}

/**
 * Why the call can't be handed to that agent, in words for the language model of the one that has it; undefined: it can. An agent that
 * had the call since the caller last spoke does not get it back, or two agents would hand it to and fro.
 */
export function handoffFault(
  { handoffs, turns }: Pick<CallState, 'handoffs' | 'turns'>,
  present: string,
  to: string,
): string | undefined {
  if (to === present) return 'You have the call yourself.'
  if (handoffs.length >= MAX_HANDOFFS) return `The call was handed on ${MAX_HANDOFFS} times already: go on yourself.`
  const spoken = turns.findLastIndex(({ role }) => role === 'user')
  const since = handoffs.filter(({ turn }) => turn > spoken)
  if (since.some(({ from }) => from === to)) {
    return 'That agent has just handed the call on, and the caller has said nothing since: go on yourself.'
  }
  return undefined
}

/** The event of a hand-off. */
export function handedOffEvent(
  { agent, reason, carries, summary, failed }: Omit<HandoffOrder, 'faults'>,
  from: Pick<AgentSpec, 'agentId' | 'agentName'>,
  { turns }: Pick<CallState, 'turns'>,
): EventOf<'handed_off'> {
  const last = turns.at(-1)
  return {
    type: 'handed_off',
    ...{ from: from.agentId, to: agent.agentId, from_name: from.agentName, to_name: agent.agentName },
    ...{ reason, carries },
    ...(agent.agentVersion === undefined ? {} : { to_version: agent.agentVersion }),
    ...describes(agent),
    ...(summary === undefined ? {} : { summary }),
    ...(failed === true ? { failed } : {}),
    ...(last?.role === 'assistant' ? { said: last.text } : {}),
  }
}

/** What the log says of an agent that has the call from now on. */
export function describes({ stt, llm, tts, leftOut }: AgentSpec): Omit<EventOf<'answered'>, 'type'> {
  const providers = { stt, llm, tts: { provider: tts.provider, model: tts.voice } }
  return { providers, ...(leftOut === undefined ? {} : { left_out: leftOut }) }
}

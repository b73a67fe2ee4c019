import type { EventOf } from '../call/log/events.ts'
import type { AgentSpec } from '../call/types/agent-spec.ts'

/** The agents that an agent's tools hand callers to, by tool. */
export type NextAgents = ReadonlyMap<string, Pick<AgentSpec, 'agentId' | 'agentName'>>

/** A webhook names the agent, and no test asks it. */
const ELSEWHERE = { agentId: 'webhook', agentName: 'webhook' }

/** The event of a hand-off that a tool made: a test ends with it. */
export function handedOff(
  from: Pick<AgentSpec, 'agentId' | 'agentName'>,
  next: NextAgents,
  tool: string,
  given: Readonly<Record<string, unknown>> = {},
): EventOf<'handed_off'> {
  const to = next.get(tool) ?? ELSEWHERE
  return {
    ...{ type: 'handed_off', from: from.agentId, to: to.agentId, from_name: from.agentName, to_name: to.agentName },
    ...{ reason: String(given.reason ?? ''), carries: 'all' },
  }
}

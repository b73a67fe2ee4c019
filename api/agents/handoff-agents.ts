import type { HandoffTool } from '../../runtime/tools/tool.ts'
import { agentNamesOf } from '../../store/agents/agents.ts'
import type { Tenant } from '../../store/database/tenant.ts'
import { isUuid } from '../ids.ts'
import type { Fault } from '../schema.ts'

/** In place of an agent: a webhook names it. */
export const WEBHOOK = 'webhook'

/** The agents that a tool may hand callers to: the names of the agents by id, and which it is itself. */
export interface HandoffAgents {
  readonly names: ReadonlyMap<string, string>
  readonly own: string | undefined
}

/** Of tools that hand callers to nobody. */
export const NO_AGENTS: HandoffAgents = { names: new Map(), own: undefined }

interface HandoffInput {
  type: string
  to?: string
  carries?: HandoffTool['carries']
  says?: string
}

/** The agents that these tools hand callers to, as far as the workspace has them. `own`: whose tools they are. */
export async function handoffAgents(
  tenant: Tenant,
  tools: readonly HandoffInput[],
  own: string | undefined,
): Promise<HandoffAgents> {
  return { names: await agentNamesOf(tenant, [...new Set(handedTo(tools))]), own }
}

/** The ids of agents in these tools, of tools that hand callers to one. */
export function handedTo(tools: readonly HandoffInput[]): string[] {
  return tools.flatMap(({ type, to }) => (type === 'handoff' && to !== undefined && isUuid(to) ? [to] : []))
}

/** The hand-off as it is stored, and what is wrong with it. */
export function handoffOf(
  { to = '', carries = 'all', says }: HandoffInput,
  { names, own }: HandoffAgents,
): Pick<HandoffTool, 'to' | 'carries' | 'says'> & { fault?: { field: string; msg: string; type: Fault['type'] } } {
  const handoff = { to, carries, ...(says === undefined ? {} : { says }) }
  const fault = (msg: string, type: Fault['type'] = 'value_error') => ({
    ...handoff,
    fault: { field: 'to', msg, type },
  })
  if (to === '') return fault('Field required', 'missing')
  if (to === WEBHOOK) return handoff
  if (to === own) return fault('must be another agent')
  return names.has(to) ? handoff : fault('must be an agent of the workspace, or "webhook"')
}

/** `hand_off_to_billing`, of an agent that is called so. */
export function nameOfHandoff(to: string | undefined, { names }: HandoffAgents): string {
  const agent = (names.get(to ?? '') ?? '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_|_$/g, '')
    .slice(0, 40)
  return agent === '' ? 'hand_off' : `hand_off_to_${agent}`
}

import type { Agent } from '../../store/database/schema.ts'
import type { Tenant } from '../../store/database/tenant.ts'
import { type Fault, ValidationError } from '../schema.ts'
import type { Services } from '../services.ts'
import { toolSecrets } from '../tools/tool-calls.ts'
import { analysisFaults } from './analysis.ts'
import { KINDS, namedKinds, unavailableFaults, unusableFaults, withCurrent, withDefaults } from './choices.ts'
import { collectFaults } from './collect.ts'
import { type FallbacksInput, fallbackFaults } from './fallbacks.ts'
import { handoffAgents } from './handoff-agents.ts'
import { procedureFaults } from './procedures.ts'
import { originFaults } from './public-access.ts'
import type { AgentInput } from './schema.ts'
import { DEFAULT_LANGUAGE, languageFaults } from './speech.ts'
import { storedTools } from './tools.ts'

/**
 * What is wrong with an agent's fields beside their shape: providers, models and voices that are not to be had, keys that are
 * missing, an unsupported language, tools. `before` is the agent that is changed: `new` for one that is made of the fields and
 * of defaults, undefined where unknown, so that only the fields' own values are checked.
 */
export async function agentFaults(
  input: AgentInput,
  before: Agent | 'new' | undefined,
  tenant: Tenant,
  { plugins, providerHealth, defaultProviders, config, argumentChecks: checks }: Services,
): Promise<Fault[]> {
  const { workspaceId } = tenant
  const { catalogue, missingKey } = plugins
  const own = plugins.keys.of(workspaceId)
  const agent = before === 'new' ? undefined : before
  const choices = agent ? withCurrent(input, agent, catalogue) : withDefaults(input, catalogue, defaultProviders)
  const kinds = before === 'new' ? KINDS : namedKinds(input)
  const unavailable = unavailableFaults(choices, catalogue, before === undefined ? kinds : KINDS)
  const known = kinds.filter((kind) => !unavailable.some(({ loc: [, field] }) => field === `${kind}_provider`))
  const fallbacks = input.fallbacks ?? (agent?.fallbacks as FallbacksInput | undefined) ?? {}
  return [
    ...unavailable,
    ...(await unusableFaults(choices, known, providerHealth, own)),
    ...fallbackFaults(input.fallbacks ?? {}, catalogue, (name, kind) => missingKey(name, kind, own[name])),
    ...languageFaults(input, agent?.language ?? DEFAULT_LANGUAGE, choices, fallbacks, catalogue),
    ...originFaults(input.public),
    ...(await toolFaults()),
    ...collectFaults(input, [...namesOfTools()]),
    ...procedureFaults(input.procedures, hasServers() ? undefined : namesOfTools(), namesOfItems()),
    ...(await analysisFaults(input.analysis, workspaceId, checks)),
  ]

  function namesOfTools(): ReadonlySet<string> {
    const tools = input.tools ?? (agent?.tools as { name?: string }[] | undefined) ?? []
    return new Set(tools.flatMap(({ name }) => name ?? []))
  }

  function namesOfItems(): ReadonlySet<string> {
    const items = input.collect ?? (agent?.collect as { name: string }[] | undefined) ?? []
    return new Set(items.map(({ name }) => name))
  }

  /** Their tools have names that only they know. */
  function hasServers(): boolean {
    const tools = (input.tools ?? agent?.tools ?? []) as readonly { type: string; name?: string }[]
    return tools.some(({ type, name }) => type === 'mcp' || name === undefined)
  }

  async function toolFaults(): Promise<readonly Fault[]> {
    if (input.tools === undefined) return []
    try {
      const agents = await handoffAgents(tenant, input.tools, agent?.id)
      await storedTools(input.tools, agent?.tools ?? [], {
        box: toolSecrets(config),
        workspaceId,
        checks,
        agents,
        toolPlugins: catalogue.tools,
      })
      return []
    } catch (error) {
      if (error instanceof ValidationError) return error.faults
      throw error
    }
  }
}

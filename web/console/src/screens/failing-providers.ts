import type { Provider } from '../data/providers.ts'
import type { Agent } from '../data/types.ts'

const STAGES = ['STT_provider', 'LLM_provider', 'TTS_provider'] as const
const SERVES = ['ok', 'not_asked']

/** Providers that can't serve, each with the names of the agents that have them; those nobody uses are left out. */
export function failingProviders(
  providers: readonly Provider[],
  agents: readonly Agent[],
): { provider: Provider; agents: string[] }[] {
  return providers.flatMap((provider) => {
    if (SERVES.includes(provider.health.state)) return []
    const users = agents.filter((agent) => STAGES.some((stage) => agent[stage] === provider.provider))
    return users.length === 0 ? [] : [{ provider, agents: users.map(({ agent_name }) => agent_name) }]
  })
}

import type { AgentSpec } from '../../runtime/call/types/agent-spec.ts'
import type { PluginKeys, StoredKeys } from '../../runtime/plugin/stored-keys.ts'

/** The keys of the workspace's own accounts at the providers that its agent may use in a session, and no others. */
export function sessionKeys(
  keys: Pick<PluginKeys, 'of'>,
  { workspaceId, llm, stt, tts, fallbacks = {} }: AgentSpec,
): StoredKeys {
  const choices = [llm, stt, tts, ...(fallbacks.llm ?? []), ...(fallbacks.stt ?? []), ...(fallbacks.tts ?? [])]
  const named = new Set(choices.map(({ provider }) => provider))
  return Object.fromEntries(Object.entries(keys.of(workspaceId)).filter(([provider]) => named.has(provider)))
}

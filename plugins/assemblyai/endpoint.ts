import type { PluginHost } from '../../runtime/plugin/contract.ts'
import type { ProviderIdentity } from '../../runtime/plugin-sdk/provider-error.ts'

const BASE = 'https://streaming.assemblyai.com'
const NO_KEY = 'none'

export const ASSEMBLYAI: ProviderIdentity = { title: 'AssemblyAI', keyVariable: 'ASSEMBLYAI_API_KEY' }

/** The server the operator chose. `base` has no slash at its end. */
export function endpointOf(host: PluginHost): { base: string; headers: Record<string, string> } {
  const base = (host.env.get('ASSEMBLYAI_BASE_URL') || BASE).replace(/\/+$/, '')
  return { base, headers: { authorization: host.env.get('ASSEMBLYAI_API_KEY') || NO_KEY } }
}

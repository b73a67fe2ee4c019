import type { PluginHost } from '../../runtime/plugin/contract.ts'
import type { ProviderIdentity } from '../../runtime/plugin-sdk/provider-error.ts'

const BASE = 'https://api.deepgram.com'
const NO_KEY = 'none'
/** Rate of the audio given to the recognisers. */
export const HEARING_RATE_HZ = 16_000

export const DEEPGRAM: ProviderIdentity = { title: 'Deepgram', keyVariable: 'DEEPGRAM_API_KEY' }

/** The server the operator chose. `base` has no slash at its end. */
export function endpointOf(host: PluginHost): { base: string; key: string; headers: Record<string, string> } {
  const base = (host.env.get('DEEPGRAM_BASE_URL') || BASE).replace(/\/+$/, '')
  const key = host.env.get('DEEPGRAM_API_KEY') || NO_KEY
  return { base, key, headers: { authorization: `Token ${key}` } }
}

/** Where Deepgram says why it refuses a socket. */
export const REFUSAL_HEADER = 'dg-error'

/** The address of a socket; a parameter given as a list is repeated, one that is undefined left out. */
export function socketUrl(base: string, path: string, query: Readonly<Record<string, unknown>>): string {
  const url = new URL(`${base.replace(/^http/, 'ws')}${path}`)
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined) url.searchParams.append(name, String(one))
    }
  }
  return url.href
}

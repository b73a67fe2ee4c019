import type { PluginHost } from '../../runtime/plugin/contract.ts'
import type { ProviderIdentity } from '../../runtime/plugin-sdk/provider-error.ts'
import { type ProviderHttp, providerHttp } from '../../runtime/plugin-sdk/provider-http.ts'

/** The server the operator chose. */
export interface Endpoint {
  /** Without a slash at its end: `https://api.openai.com/v1`. */
  readonly base: string
  readonly key: string
  /** OpenAI itself, not a server that speaks its protocol. */
  readonly isOpenAI: boolean
  readonly provider: ProviderIdentity
  readonly http: ProviderHttp
}

const OPENAI_BASE = 'https://api.openai.com/v1'
/** Servers that want no key still want the header. */
const NO_KEY = 'none'

export function endpointOf(host: PluginHost): Endpoint {
  const chosen = host.env.get('OPENAI_BASE_URL')
  const base = (chosen || OPENAI_BASE).replace(/\/+$/, '')
  const key = host.env.get('OPENAI_API_KEY') || NO_KEY
  const { hostname } = new URL(base)
  // Its regions have hosts of their own: eu.api.openai.com.
  const isOpenAI = hostname === 'api.openai.com' || hostname.endsWith('.api.openai.com')
  const title = isOpenAI ? 'OpenAI' : `OpenAI (${new URL(base).host})`
  const provider: ProviderIdentity = { title, keyVariable: 'OPENAI_API_KEY' }
  return { base, key, isOpenAI, provider, http: providerHttp(host, provider, base, { authorization: `Bearer ${key}` }) }
}

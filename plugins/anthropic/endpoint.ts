import type { PluginHost } from '../../runtime/plugin/contract.ts'
import type { ProviderIdentity } from '../../runtime/plugin-sdk/provider-error.ts'
import { type ProviderHttp, providerHttp } from '../../runtime/plugin-sdk/provider-http.ts'

const BASE = 'https://api.anthropic.com'
const NO_KEY = 'none'
/** Of the API, by the day it was frozen. */
const VERSION = '2023-06-01'

export const ANTHROPIC: ProviderIdentity = { title: 'Anthropic', keyVariable: 'ANTHROPIC_API_KEY' }

/** The server the operator chose. */
export function httpOf(host: PluginHost): ProviderHttp {
  const base = (host.env.get('ANTHROPIC_BASE_URL') || BASE).replace(/\/+$/, '')
  const key = host.env.get('ANTHROPIC_API_KEY') || NO_KEY
  return providerHttp(host, ANTHROPIC, base, { 'x-api-key': key, 'anthropic-version': VERSION })
}

import type { PluginHost } from '../../runtime/plugin/contract.ts'
import type { ProviderIdentity } from '../../runtime/plugin-sdk/provider-error.ts'

const BASE = 'https://api.cartesia.ai'
const NO_KEY = 'none'
/** Of the API, by the day it was frozen. */
export const SPEAK_VERSION = '2025-04-16'
export const LISTEN_VERSION = '2026-03-01'

export const CARTESIA: ProviderIdentity = { title: 'Cartesia', keyVariable: 'CARTESIA_API_KEY' }

interface Endpoint {
  /** Without a slash at its end. */
  base: string
  /** The same for sockets. */
  socketBase: string
  key: string
  headers(version: string): Record<string, string>
}

/** The server the operator chose. */
export function endpointOf(host: PluginHost): Endpoint {
  const base = (host.env.get('CARTESIA_BASE_URL') || BASE).replace(/\/+$/, '')
  const key = host.env.get('CARTESIA_API_KEY') || NO_KEY
  return {
    base,
    socketBase: base.replace(/^http/, 'ws'),
    key,
    headers: (version) => ({ 'x-api-key': key, 'cartesia-version': version }),
  }
}

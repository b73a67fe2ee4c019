import type { PluginHost } from '../../runtime/plugin/contract.ts'
import type { ProviderIdentity } from '../../runtime/plugin-sdk/provider-error.ts'
import {
  type ProviderHttp,
  providerHttp,
  type RefusalWords,
  refusalWords,
} from '../../runtime/plugin-sdk/provider-http.ts'

const BASE = 'https://generativelanguage.googleapis.com'
const NO_KEY = 'none'

export const GOOGLE: ProviderIdentity = { title: 'Google', keyVariable: 'GOOGLE_API_KEY' }

/** The server the operator chose, and its key. */
export function endpointOf(host: PluginHost): { base: string; key: string } {
  const base = (host.env.get('GOOGLE_BASE_URL') || BASE).replace(/\/+$/, '')
  return { base, key: host.env.get('GOOGLE_API_KEY') || NO_KEY }
}

export function httpOf(host: PluginHost): ProviderHttp {
  const { base, key } = endpointOf(host)
  return providerHttp(host, GOOGLE, base, { 'x-goog-api-key': key }, readRefusal)
}

/**
 * Google calls a limit of requests a minute a quota, too, and says that it is one by naming when to come back
 * (google.rpc.RetryInfo).
 */
export function readRefusal(body: string): RefusalWords {
  if (/google\.rpc\.RetryInfo/.test(body)) return { words: 'Too many requests', code: 'rate_limit' }
  const { words, code } = refusalWords(body)
  return { words, ...(code === undefined ? {} : { code }) }
}

/** Where an answer of a model streams from. */
export function streamPath(model: string): string {
  return `/v1beta/models/${encodeURIComponent(model)}:streamGenerateContent?alt=sse`
}

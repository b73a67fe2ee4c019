import type { PluginHost } from '../../runtime/plugin/contract.ts'
import type { ProviderFailure, ProviderIdentity } from '../../runtime/plugin-sdk/provider-error.ts'
import { explainFailure } from '../../runtime/plugin-sdk/provider-error.ts'

const BASE = 'https://api.elevenlabs.io'
const NO_KEY = 'none'

export const ELEVENLABS: ProviderIdentity = { title: 'ElevenLabs', keyVariable: 'ELEVENLABS_API_KEY' }

/** The server the operator chose. `base` has no slash at its end. */
export function endpointOf(host: PluginHost): { base: string; headers: Record<string, string> } {
  const base = (host.env.get('ELEVENLABS_BASE_URL') || BASE).replace(/\/+$/, '')
  return { base, headers: { 'xi-api-key': host.env.get('ELEVENLABS_API_KEY') || NO_KEY } }
}

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

/** What its sockets say in messages, by the HTTP status it would have had: elevenlabs.io/docs/developers/resources/errors. */
const STATUS_OF: Readonly<Record<string, number>> = {
  auth_error: 401,
  authentication_required: 401,
  invalid_api_key: 401,
  missing_permissions: 403,
  unaccepted_terms: 403,
  quota_exceeded: 402,
  rate_limited: 429,
  too_many_concurrent_requests: 429,
  max_active_conversations: 429,
  too_many_contexts: 429,
  concurrent_limit_exceeded: 429,
  system_busy: 503,
  queue_overflow: 503,
  resource_exhausted: 503,
  session_time_limit_exceeded: 503,
  transcriber_error: 500,
  internal_error: 500,
  input_error: 400,
  invalid_request: 400,
  chunk_size_exceeded: 400,
  voice_not_found: 404,
  model_not_found: 404,
}

/** Judges a failure that came in a message. */
export function failureOf(code: string, message: string | undefined): ProviderFailure {
  return explainFailure(ELEVENLABS, { status: STATUS_OF[code], code, message })
}

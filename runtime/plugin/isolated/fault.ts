import { PatchbayError } from '../../lib/errors.ts'
import { ProviderError, type ProviderIdentity } from '../../plugin-sdk/provider-error.ts'
import { apiErrorOf } from '../../plugin-sdk/speech/api-error.ts'
import { IsolatedFault } from './plugin-runner.ts'

/** Judges what went wrong in a plugin's process, in an operator's words. */
export type FaultOf = (error: unknown) => Error

/** What the plugin judged itself is taken at its word; what it threw otherwise counts as passing. */
export function faultsOf(provider: ProviderIdentity): FaultOf {
  return (error) => apiErrorOf(provider, judged(error))
}

function judged(error: unknown): unknown {
  if (!(error instanceof IsolatedFault)) return error
  const { message, failure, cause } = error
  if (cause instanceof PatchbayError) return cause
  const fault = failure?.fault ?? 'transient'
  return new ProviderError({
    fault,
    status: failure?.status,
    retryable: fault === 'transient' || fault === 'rate_limit',
    message,
  })
}

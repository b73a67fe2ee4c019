import { APIConnectionError, type APIError, APIStatusError } from '@livekit/agents'
import { PatchbayError } from '../../lib/errors.ts'
import { explainFailure, ProviderError, type ProviderIdentity } from '../provider-error.ts'

/**
 * A provider's failure as the error @livekit/agents retries by, in words for an operator. Its cause is the judged
 * failure alone: what the provider's client raised may quote the request.
 */
export function apiErrorOf(provider: ProviderIdentity, error: unknown): APIError | PatchbayError {
  const refusal = error instanceof Error && error.cause instanceof PatchbayError ? error.cause : error
  if (refusal instanceof PatchbayError) return refusal
  const failure = explainFailure(provider, error)
  const { message, retryable, status } = failure
  const judged =
    status === undefined
      ? new APIConnectionError({ message, options: { retryable } })
      : new APIStatusError({ message, options: { statusCode: status, retryable } })
  judged.cause = new ProviderError(failure)
  return judged
}

/** Has every error an STT, LLM or TTS tells its listeners judged first. Returns the instance. */
export function judgeErrors<T extends object>(instance: T, provider: ProviderIdentity): T {
  const emitter = instance as unknown as { emit(event: string, payload: object): boolean }
  const { emit } = emitter
  emitter.emit = (event, payload) => {
    const judged = event === 'error' && 'error' in payload
    return emit.call(emitter, event, judged ? { ...payload, error: apiErrorOf(provider, payload.error) } : payload)
  }
  return instance
}

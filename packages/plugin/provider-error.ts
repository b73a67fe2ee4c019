/** Why a provider failed. */
export interface Failure {
  readonly fault: 'authentication' | 'quota' | 'rate_limit' | 'bad_request' | 'transient'
  /** HTTP status, where there was one. */
  readonly status?: number
}

const MAX_CAUSES = 5

/**
 * Raised when the provider is at fault. `message` is for the operator: what happened and what to do about it, without key,
 * prompt or transcript. A transient fault and a limit of the rate are worth another attempt, the others are not.
 */
export class ProviderError extends Error {
  override readonly name = 'ProviderError'
  readonly failure: Failure

  constructor(message: string, failure: Failure, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.failure = failure
  }

  /**
   * The error of a request that found no server, from what `fetch` or a WebSocket threw. A refused permission is given back as it
   * is: it says how to grant it, and another attempt is of no use.
   */
  static unreachable(title: string, cause: unknown): Error {
    for (let link = cause, depth = 0; link instanceof Error && depth < MAX_CAUSES; link = link.cause, depth++) {
      if (link.name === 'NotCapable') return link
    }
    return new ProviderError(`${title} could not be reached`, { fault: 'transient' }, cause)
  }

  /** The error of an HTTP answer that is no success. */
  static ofStatus(title: string, status: number, words: string): ProviderError {
    const said = words.slice(0, 200)
    if (status === 401 || status === 403) {
      return new ProviderError(`${title} refused the key (${status})`, { fault: 'authentication', status })
    }
    if (status === 402)
      return new ProviderError(`${title} says the account has no credit left`, { fault: 'quota', status })
    if (status === 429)
      return new ProviderError(`${title} limits the rate of requests`, { fault: 'rate_limit', status })
    if (status >= 400 && status < 500) {
      return new ProviderError(`${title} refused the request (${status}): ${said}`, { fault: 'bad_request', status })
    }
    return new ProviderError(`${title} has a fault of its own (${status})`, { fault: 'transient', status })
  }
}

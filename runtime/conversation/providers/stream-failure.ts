import { setImmediate } from 'node:timers/promises'
import { boundary, inBackground } from '../../lib/async/boundary.ts'

interface ErrorSource {
  on(event: 'error', listener: (event: { error: Error }) => void): unknown
  off(event: 'error', listener: (event: { error: Error }) => void): unknown
}

/**
 * Why one stream of a provider ended. The library tells failures of all an instance's streams through the instance
 * alone, before their last pieces are read; the one that failed is the one whose queue closes in the same turn.
 */
export class StreamFailure {
  readonly #source: ErrorSource
  readonly #stream: { queue?: { closed: boolean } }
  #error: Error | undefined

  constructor(source: ErrorSource, stream: object) {
    this.#source = source
    this.#stream = stream
    source.on('error', this.#onError)
  }

  /** Call it when the stream is over: throws what it failed with. */
  async check(): Promise<void> {
    await setImmediate()
    if (this.#error !== undefined) throw this.#error
  }

  stop(): void {
    this.#source.off('error', this.#onError)
  }

  readonly #onError = boundary('provider', ({ error }: { error: Error }): void => {
    if (this.#stream.queue?.closed === true) return
    inBackground(
      'provider',
      setImmediate().then(() => {
        if (this.#stream.queue?.closed !== false) this.#error ??= error
      }),
    )
  })
}

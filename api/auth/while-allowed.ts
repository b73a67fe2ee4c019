import { type ErrorCode, PatchbayError } from '../../runtime/lib/errors.ts'

/**
 * The stream while its reader has the right to it: it fails as soon as `withdrawn` is called, also between two pieces.
 * @param watch begins with the first piece that is asked for; returns the function that ends it
 */
export function whileAllowed<T>(
  stream: AsyncIterable<T>,
  watch: (withdrawn: (code: ErrorCode) => void) => () => void,
): AsyncIterable<T> {
  return { [Symbol.asyncIterator]: () => new AllowedPieces(stream[Symbol.asyncIterator](), watch) }
}

class AllowedPieces<T> implements AsyncIterator<T> {
  readonly #inner: AsyncIterator<T>
  readonly #watch: (withdrawn: (code: ErrorCode) => void) => () => void
  #unwatch: (() => void) | undefined
  #fault: PatchbayError | undefined
  #fail: ((fault: PatchbayError) => void) | undefined

  constructor(inner: AsyncIterator<T>, watch: (withdrawn: (code: ErrorCode) => void) => () => void) {
    this.#inner = inner
    this.#watch = watch
  }

  async next(): Promise<IteratorResult<T>> {
    this.#unwatch ??= this.#watch((code) => {
      this.#fault = new PatchbayError(code)
      this.#fail?.(this.#fault)
    })
    try {
      const result = await this.#piece()
      if (result.done) this.#unwatch()
      return result
    } catch (error) {
      this.#unwatch()
      // Not awaited: a piece that is under way may be long in coming.
      this.#inner.return?.()?.catch(() => undefined)
      throw error
    } finally {
      this.#fail = undefined
    }
  }

  async return(): Promise<IteratorResult<T>> {
    this.#unwatch?.()
    await this.#inner.return?.()
    return { done: true, value: undefined }
  }

  #piece(): Promise<IteratorResult<T>> {
    return new Promise((resolve, reject) => {
      if (this.#fault !== undefined) return reject(this.#fault)
      this.#fail = reject
      this.#inner.next().then(resolve, reject)
    })
  }
}

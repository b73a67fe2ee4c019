/**
 * A function that may have to wait, written like an async one with `yield` for `await`. Where there is nothing to wait for
 * it goes on at once, so that what arrives whole is answered in the very call that brought it.
 */
export type Steps<T> = Generator<unknown, T, unknown>

/** Is told a result or a failure, once. Neither call throws. */
export interface Listener<T> {
  done(result: T): void
  failed(error: unknown): void
}

/** What steps yield where a promise would tell too late: it may tell in the very call that brings the value. */
export type Pending<T> = (listener: Listener<T>) => void

/** Takes the steps to their end. What they yield is waited for when it is a promise or a Pending. */
export function follow<T>(steps: Steps<T>, listener: Listener<T>): void {
  new Walk(steps, listener).done(undefined)
}

class Walk<T> implements Listener<unknown> {
  readonly #steps: Steps<T>
  readonly #listener: Listener<T>

  constructor(steps: Steps<T>, listener: Listener<T>) {
    this.#steps = steps
    this.#listener = listener
  }

  done(value: unknown): void {
    let step: IteratorResult<unknown, T>
    try {
      step = this.#steps.next(value)
      while (!step.done && !isPending(step.value)) step = this.#steps.next(step.value)
    } catch (error) {
      this.#listener.failed(error)
      return
    }
    if (step.done) this.#listener.done(step.value)
    else this.#wait(step.value as Promise<unknown> | Pending<unknown>)
  }

  failed(error: unknown): void {
    let step: IteratorResult<unknown, T>
    try {
      step = this.#steps.throw(error)
    } catch (raised) {
      this.#listener.failed(raised)
      return
    }
    if (step.done) this.#listener.done(step.value)
    else if (isPending(step.value)) this.#wait(step.value)
    else this.done(step.value)
  }

  #wait(value: Promise<unknown> | Pending<unknown>): void {
    if (typeof value === 'function') value(this)
    else value.then(this.done.bind(this), this.failed.bind(this))
  }
}

function isPending(value: unknown): value is Promise<unknown> | Pending<unknown> {
  return value instanceof Promise || typeof value === 'function'
}

import { BOUNDARIES, type Boundary, caught } from './faults.ts'

/**
 * Where something from outside enters this process: a socket, a stream, a timer, a queue, an event. What a handler throws there
 * ends that message or that connection, is logged and counted, and never becomes an error that nobody handled, which would end
 * the process with all of its calls.
 */

export { caught }

/** One for each kind, so that a frame of audio needs none of its own. */
const rejected = new Map(BOUNDARIES.map((kind) => [kind, (error: unknown) => caught(kind, error)]))
type Handler = (...args: never[]) => unknown

/**
 * The handler, behind a boundary. Registering is the only time it allocates: a packet costs one more call.
 * @param failed ends what can't go on after that, such as the connection; gets the handler's first argument
 */
export function boundary<F extends Handler>(kind: Boundary, handler: F, failed?: (first: Parameters<F>[0]) => void): F {
  const call = handler as unknown as Call
  // No listener is given more than five arguments, and a rest parameter would be an array at each call.
  function guarded(this: unknown, a: unknown, b: unknown, c: unknown, d: unknown, e: unknown): unknown {
    try {
      const result = call.call(this, a, b, c, d, e)
      if (result instanceof Promise) result.catch((error: unknown) => end(kind, error, failed, a))
      return result
    } catch (error) {
      end(kind, error, failed, a)
      return undefined
    }
  }
  return guarded as unknown as F
}

type Call = (this: unknown, ...args: unknown[]) => unknown

function end(kind: Boundary, error: unknown, failed: ((first: never) => void) | undefined, first: unknown): void {
  caught(kind, error)
  try {
    failed?.(first as never)
  } catch (second) {
    caught(kind, second)
  }
}

/** Work that nobody waits for. That it failed is reported and counted. */
export function inBackground(kind: Boundary, work: PromiseLike<unknown> | undefined): void {
  work?.then(undefined, rejected.get(kind))
}

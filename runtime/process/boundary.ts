/**
 * Where something from outside enters this process: a socket, a stream, a timer, a queue, an event. What a handler throws there
 * ends that message or that connection, is logged and counted, and never becomes an error that nobody handled, which would end
 * the process with all of its calls.
 */

/** Parts of the system, as faults are logged and counted by them. */
export const BOUNDARIES = [
  'http',
  'websocket',
  'link',
  'call',
  'carrier',
  'sip',
  'rtp',
  'webrtc',
  'provider',
  'tool',
  'plugin',
  'process',
  'queue',
  'redis',
  'database',
] as const
export type Boundary = (typeof BOUNDARIES)[number]

export type ReportFault = (kind: Boundary, error: unknown) => void

/** One for each kind, so that a frame of audio needs none of its own. */
const rejected = new Map(BOUNDARIES.map((kind) => [kind, (error: unknown) => caught(kind, error)]))
const faults = new Map<Boundary, number>(BOUNDARIES.map((kind) => [kind, 0]))
let reportFault: ReportFault = (kind, error) => {
  process.stderr.write(`A handler failed (${kind}): ${error instanceof Error ? error.stack : String(error)}\n`)
}

/** How many handlers have failed in this process. */
export const faultCounts = (): ReadonlyMap<Boundary, number> => faults

/** From now on faults are reported there; before, they are written to standard error. Returns the way back. */
export function reportFaultsTo(report: ReportFault): () => void {
  const before = reportFault
  reportFault = report
  return () => {
    reportFault = before
  }
}

/** Counts and reports what a handler threw. Never throws. */
export function caught(kind: Boundary, error: unknown): void {
  faults.set(kind, (faults.get(kind) ?? 0) + 1)
  try {
    reportFault(kind, error)
  } catch {
    // It is counted, and there is nothing left to tell it to.
  }
}

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

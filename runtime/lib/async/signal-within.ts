import { boundary } from './boundary.ts'
/**
 * Aborts with the first of `signals`, and after `timeoutMs` with a TimeoutError, as AbortSignal.any() over an AbortSignal.timeout()
 * would. Node 22 keeps each of those for ever once its time is over, and by the stack of its reason all of the call it was made in.
 * This one is let go of by then at the latest. It keeps no process from ending.
 */
export function signalWithin(timeoutMs: number, ...signals: readonly AbortSignal[]): AbortSignal {
  const controller = new AbortController()
  const end = (reason: unknown): void => {
    clearTimeout(timer)
    for (const signal of signals) signal.removeEventListener('abort', follow)
    controller.abort(reason)
  }
  const follow = boundary('call', ({ target }: Event): void => end((target as AbortSignal).reason))
  const timer = setTimeout(
    boundary('call', () => end(new DOMException(`No end within ${timeoutMs} ms`, 'TimeoutError'))),
    timeoutMs,
  )
  timer.unref()
  for (const signal of signals) signal.addEventListener('abort', follow)
  const aborted = signals.find((signal) => signal.aborted)
  if (aborted !== undefined) end(aborted.reason)
  return controller.signal
}

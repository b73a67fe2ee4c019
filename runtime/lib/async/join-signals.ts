import { boundary } from './boundary.ts'

/** A signal that somebody holds keeps what aborts it. */
const controllers = new WeakMap<AbortSignal, AbortController>()
/** Joined signals that nothing holds any more leave what they followed. */
const forgotten = new FinalizationRegistry<() => void>((leave) => leave())

/**
 * Aborts with the first of both, for its reason. AbortSignal.any() of Node 22 keeps about 170 bytes for as long as its longest-lived
 * source lives: a process that joins its own signal to that of each request grows for ever.
 * @param lasting may live as long as the process; it keeps nothing of the joined signal
 * @param own of what is done
 */
export function joinSignals(lasting: AbortSignal, own: AbortSignal): AbortSignal {
  const joined = new AbortController()
  const aborted = [lasting, own].find((signal) => signal.aborted)
  if (aborted !== undefined) {
    joined.abort(aborted.reason)
    return joined.signal
  }
  controllers.set(joined.signal, joined)
  const leave = followWeakly(lasting, new WeakRef(joined))
  own.addEventListener(
    'abort',
    boundary('call', () => {
      leave()
      joined.abort(own.reason)
    }),
    { once: true },
  )
  forgotten.register(joined, leave)
  return joined.signal
}

/** A scope of its own: what it returns must not hold the joined signal. */
function followWeakly(lasting: AbortSignal, held: WeakRef<AbortController>): () => void {
  const follow = boundary('call', (): void => held.deref()?.abort(lasting.reason))
  lasting.addEventListener('abort', follow, { once: true })
  return () => lasting.removeEventListener('abort', follow)
}

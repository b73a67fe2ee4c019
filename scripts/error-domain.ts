import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * To which test an error belongs that nobody caught: what tap takes from `async-hook-domain`, which has Node follow each
 * promise to its collection by the garbage collector; that costs more than most tests. Here the test is part of the
 * asynchronous context.
 */

const current = new AsyncLocalStorage<Domain>()
let outermost: Domain | undefined

type OnError = (error: unknown, type: string) => void

export class Domain {
  readonly onerror: OnError
  readonly #outer = current.getStore()
  #isDestroyed = false

  /** `onerror` is told of what is thrown in what begins from here on. */
  constructor(onerror: OnError) {
    this.onerror = onerror
    current.enterWith(this)
    if (outermost === undefined) watch()
    outermost ??= this
  }

  /** The one around it is told from now on. */
  destroy(): void {
    this.#isDestroyed = true
  }

  get living(): Domain | undefined {
    return this.#isDestroyed ? this.#outer?.living : this
  }
}

function watch(): void {
  const emit = process.emit as (event: string, ...args: unknown[]) => boolean
  process.on('uncaughtExceptionMonitor', (error, origin) => {
    const isOthers = process.hasUncaughtExceptionCaptureCallback() || process.listenerCount('uncaughtException') > 0
    if (isOthers || !tell(error, origin)) return
    // It is dealt with: Node ends the process only where nobody takes the error.
    process.setUncaughtExceptionCaptureCallback(() => process.setUncaughtExceptionCaptureCallback(null))
  })
  // A listener would change what the programs under test see.
  process.emit = ((event: string, ...args: unknown[]) => {
    if (event !== 'unhandledRejection' || process.listenerCount(event) > 0) return emit.call(process, event, ...args)
    return tell(args[0], event)
  }) as typeof process.emit
}

function tell(error: unknown, type: string): boolean {
  const domain = (current.getStore() ?? outermost)?.living ?? outermost
  domain?.onerror(error, type)
  return domain !== undefined
}

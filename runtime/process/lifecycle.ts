import type { Logger } from './log.ts'

/** Ctrl-C in a terminal reaches us from the terminal and again from npm: signals this close together are one. */
const SAME_SIGNAL_MS = 500
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Why a process stops after an error that nobody handled. */
export const CRASH = 'error'

export interface StopRequests {
  /** The first signal, or the first reason given to `request`. */
  readonly requested: Promise<string>
  /** A second signal: the operator does not want to wait. */
  readonly forced: Promise<void>
  /** Asked again, it waits all the same: only a second signal skips the wait. */
  request(reason: string): void
}

/**
 * Turns signals, a lost parent process and errors nobody caught into one request to stop. Installed once a process.
 * @param stopsAtHangup SIGHUP is a terminal's; otherwise it asks for a reload
 */
export function watchStopRequests(log: () => Logger | undefined, stopsAtHangup = true): StopRequests {
  const requested = Promise.withResolvers<string>()
  const forced = Promise.withResolvers<void>()
  let requestedAtMs: number | undefined
  const onSignal = (signal: string): void => {
    if (requestedAtMs === undefined) {
      requestedAtMs = performance.now()
      requested.resolve(signal)
    } else if (performance.now() - requestedAtMs > SAME_SIGNAL_MS) {
      forced.resolve()
    }
  }
  const request = (reason: string): void => {
    if (requestedAtMs === undefined) onSignal(reason)
  }
  for (const signal of SIGNALS) if (signal !== 'SIGHUP' || stopsAtHangup) process.on(signal, onSignal)
  // The last resort, where no boundary was: calls go on within a bound, and another error does not cut that short.
  const onCrash = (err: unknown): void => {
    process.exitCode = 1
    const logger = log()
    if (logger === undefined) process.stderr.write(`${err instanceof Error ? err.stack : String(err)}\n`)
    else logger.fatal({ err }, 'An error nobody handled; stopping once the calls are over')
    request(CRASH)
  }
  process.on('uncaughtException', onCrash)
  process.on('unhandledRejection', onCrash)
  process.once('disconnect', () => onSignal('disconnect'))
  return { requested: requested.promise, forced: forced.promise, request }
}

/**
 * Keeps the process alive when a provider's library drops an error: many calls share a worker, and an error that
 * was not caught belongs to one of them. Such errors are counted and logged. Returns a function that restores the handlers.
 */
export function surviveStrayErrors(report: (error: unknown) => void): () => void {
  const events = ['unhandledRejection', 'uncaughtException'] as const
  const before = events.map((event) => process.listeners(event as 'uncaughtException'))
  for (const event of events) {
    process.removeAllListeners(event)
    process.on(event, report)
  }
  return () => {
    events.forEach((event, i) => {
      process.off(event, report)
      for (const listener of before[i] ?? []) process.on(event as 'uncaughtException', listener)
    })
  }
}

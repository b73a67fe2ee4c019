/** What boundaries caught in this process. No plugin may import this: it could make itself unheard. */

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

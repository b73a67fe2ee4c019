import { boundary } from '../../lib/async/boundary.ts'

/** What a line does to the packets on it. */
export interface LineFaults {
  /** Share of packets that never arrive, 0–1. */
  loss: number
  /** Each is late by up to so much, so that packets overtake others. */
  jitterMs: number
}

/**
 * Passes packets on as a line with these faults does: not at all, late, or at once.
 * @param random 0–1
 */
export function lineFaults({ loss, jitterMs }: LineFaults, random: () => number): (pass: () => void) => void {
  return (pass) => {
    if (random() < loss) return
    if (jitterMs === 0) pass()
    else setTimeout(boundary('call', pass), random() * jitterMs).unref()
  }
}

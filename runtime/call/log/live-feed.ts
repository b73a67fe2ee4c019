import type { CallEvent } from './events.ts'

/** Live events of calls, partial words included. Drops what subscribers don't read in time. */
export interface LiveFeed {
  /** Never throws and never waits. */
  publish(workspaceId: string, callId: string, event: CallEvent): void
}

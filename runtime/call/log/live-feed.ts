import type { CallEvent } from './events.ts'

/** Where what happens in calls is shown as it happens, partial words included. Loses what nobody takes in time. */
export interface LiveFeed {
  /** Never throws and never waits. */
  publish(workspaceId: string, callId: string, event: CallEvent): void
}

/**
 * What a voice slot is wanted for, in order of priority: a call that lost its worker, then inbound callers, then callees who
 * picked up after being dialled without a slot, then calls about to be dialled.
 */
export type SeatKind = 'recovering' | 'inbound' | 'web' | 'picked_up' | 'outbound'

/** Which of several slots that are ready is taken: a slot is an agent, one of those a voice worker has. */
export const SLOT_STRATEGIES = [
  'longest-idle-agent',
  'round-robin',
  'agent-with-least-talk-time',
  'agent-with-fewest-calls',
  'random',
] as const
export type SlotStrategy = (typeof SLOT_STRATEGIES)[number]

export interface SlotClaim {
  workspaceId: string
  kind: SeatKind
  /** The workspace's own unit of work, as a batch or a campaign: units of a workspace take turns. */
  unit?: string
  /** The pool of voice workers that serves it; default: the one without a name. */
  pool?: string
  /** How long the slot rests after the session; default: as the operator set it. */
  wrapUpMs?: number
  /** Default: on the worker with the least load, the slot that has been idle longest. */
  strategy?: SlotStrategy
}

/** The lower goes first; within a rank workspaces take turns. */
export const SEAT_RANKS: Readonly<Record<SeatKind, number>> = {
  recovering: 0,
  inbound: 1,
  web: 1,
  picked_up: 2,
  outbound: 3,
}

import type { Demand } from './share-out.ts'

/**
 * The door through which rows of batches and campaigns become calls. A unit of work says how many calls it would make now and
 * gets its fair part of the room: voice slots that are free beyond the inbound reserve, less those that calls will take which
 * wait to be placed or ring without one, in turns by workspace and then by unit, within the caps of workspace and number as
 * they are at this moment.
 * What gets no room stays a row. A unit asks again while it has rows; each ask counts as its demand until DEMAND_MS after the
 * next is due, or until it leaves: room that is due to a unit waits for it. store/redis/call-room.ts keeps demands and turns.
 *
 * ```ts
 * await room.claim(
 *   { workspaceId, unit: `campaign:${id}`, wanted: due, number: '+14155550100' },
 *   async (most) => (await claimProspects(tenant, id, most)).length,
 * )
 * ```
 */
export interface CallRoom {
  /**
   * Calls `take` with how many slots there are now, when that is any, while no other unit is given room. `take` makes calls
   * (rows in `calls`, queued), one per slot, or more without slots of their own: `mostCalls` at most. It resolves with the
   * slots it took. Resolves with that, 0 when there was no room.
   */
  claim(demand: CallDemand, take: (most: number, mostCalls: number) => Promise<number>): Promise<number>
  /** The unit wants nothing any more. */
  leave(unit: string): Promise<void>
}

export interface CallDemand extends Demand {
  /** The number that calls, where its cap counts; a unit with several clamps to their caps itself. */
  number?: string
  /** The pool of voice workers that serves it; default: the one without a name. */
  pool?: string
  /** When the unit asks again, at the latest; left out: at once. */
  againMs?: number
}

/** How long a unit that is late to ask again still counts among those that share. */
export const DEMAND_MS = 3_000

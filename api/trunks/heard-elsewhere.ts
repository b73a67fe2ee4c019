import type { TrunkState } from '../../runtime/plugin-sdk/telephony/carrier.ts'
import type { TrunkAttempt } from '../../runtime/plugin-sdk/telephony/trunk.ts'

/**
 * A trunk's state with what another node was answered, where this node does not ask: one node registers with a trunk. What was said
 * before the trunk was changed is no news. Pure.
 */
export function heardElsewhere(
  changedAt: Date,
  state: TrunkState | undefined,
  last: TrunkAttempt | undefined,
): TrunkState | undefined {
  if (state === undefined || state.contact !== undefined || last === undefined) return state
  if (last.atMs < changedAt.getTime()) return state
  // Any answer to OPTIONS proves reachability.
  return { ...state, contact: { status: last.ok ? 200 : last.status, reason: last.reason, atMs: last.atMs } }
}

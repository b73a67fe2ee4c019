import type { Clock } from '../../runtime/lib/clock.ts'
import type { Logger } from '../../runtime/process/log.ts'
import type { Store } from '../database/database.ts'
import type { SlotShares } from '../redis/slots.ts'
import { hasSeveralWorkspaces } from '../workspaces/quotas.ts'

const LOOK_AGAIN_MS = 5_000

/**
 * How the voice slots are shared out: what one workspace leaves to others it need not leave where there are none. Whether
 * there are is looked up every few seconds while sessions ask.
 */
export function slotShares(
  config: { readonly inboundReserve: number; readonly workspaceShare: number },
  { store, clock, log }: { store: Store; clock: Clock; log: Logger },
): () => SlotShares {
  let several = true
  let lookedAtMs = Number.NEGATIVE_INFINITY
  return () => {
    const nowMs = clock.monotonicMs()
    if (nowMs - lookedAtMs > LOOK_AGAIN_MS) {
      lookedAtMs = nowMs
      hasSeveralWorkspaces(store).then(
        (found) => {
          several = found
        },
        (err) => log.warn({ err }, 'The workspaces could not be counted'),
      )
    }
    return { inboundReserve: config.inboundReserve, workspaceShare: several ? config.workspaceShare : 1 }
  }
}

import type { Carriers } from '../../runtime/dialing/carriers.ts'
import { signalWithin } from '../../runtime/lib/async/signal-within.ts'
import type { OpenCall } from '../../store/calls/open-calls.ts'
import type { Store } from '../../store/database/database.ts'

const CARRIER_TIMEOUT_MS = 5_000

/** Asks the carrier about a call whose api node died, and hangs up if its line is still open. */
export function carrierReleaser(store: Store, carriers: Carriers): (call: OpenCall) => Promise<void> {
  return async (call) => {
    if (call.fromNumber === null) return
    const number = await store
      .tenant(call.workspaceId)
      .db.selectFrom('phone_numbers')
      .select('provider')
      .where('phone_number', '=', call.fromNumber)
      .executeTakeFirst()
    if (number === undefined) return
    const carrier = await carriers.get(number.provider)
    const signal = signalWithin(CARRIER_TIMEOUT_MS)
    const carrierId = call.carrierId ?? undefined
    if ((await carrier.lookup(call.id, signal, carrierId)) === 'live') await carrier.hangup(call.id, signal, carrierId)
  }
}

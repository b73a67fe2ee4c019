import type { Carriers } from '../../runtime/dialing/carriers.ts'
import { HangUps } from '../../runtime/plugin-sdk/telephony/hang-ups.ts'
import { refusesForGood } from '../../runtime/plugin-sdk/telephony/stream/rest.ts'
import type { Logger } from '../../runtime/process/log.ts'
import type { OpenCall } from '../../store/calls/open-calls.ts'
import type { Store } from '../../store/database/database.ts'

/** Asks the carriers about calls whose api nodes died, until they answer, and hangs up where the line is still open. */
export function carrierReleaser(store: Store, carriers: Carriers, log: Logger) {
  const hangUps = new HangUps({ log, isFinal: refusesForGood })
  const release = async (call: OpenCall): Promise<void> => {
    if (call.fromNumber === null) return
    const number = await store
      .tenant(call.workspaceId)
      .db.selectFrom('phone_numbers')
      .select('provider')
      .where('phone_number', '=', call.fromNumber)
      .executeTakeFirst()
    if (number === undefined) return
    const carrier = await carriers.get(number.provider)
    const carrierId = call.carrierId ?? undefined
    const hangUp = async (signal: AbortSignal): Promise<void> => {
      if ((await carrier.lookup(call.id, signal, carrierId)) === 'live')
        await carrier.hangup(call.id, signal, carrierId)
    }
    await hangUps.end(carrierId ?? call.id, hangUp)
  }
  return { release, close: () => hangUps.close() }
}

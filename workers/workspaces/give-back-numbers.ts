import type { Carriers } from '../../runtime/dialing/carriers.ts'
import { signalWithin } from '../../runtime/lib/async/signal-within.ts'
import type { PhoneNumber } from '../../runtime/lib/phone-number.ts'
import type { PluginRegistry } from '../../runtime/plugin/host.ts'
import type { KeptNumber } from '../../runtime/plugin-sdk/telephony/carrier.ts'
import type { Logger } from '../../runtime/process/log.ts'
import type { Store } from '../../store/database/database.ts'
import { carrierNumberOf } from '../../store/telephony/carrier-numbers.ts'
import { deletePhoneNumber, listPhoneNumbers } from '../../store/telephony/phone-numbers.ts'

const CARRIER_TIMEOUT_MS = 15_000

/** Gives a number back to its carrier, where that takes any back. Rejects when the carrier doesn't, or can't be asked now. */
export type ReleaseNumber = (
  number: PhoneNumber,
  provider: string,
  kept: KeptNumber,
  signal: AbortSignal,
) => Promise<void>

export function numberReleaser(
  { carriers, plugins }: { carriers: Carriers; plugins: Pick<PluginRegistry, 'catalogue' | 'missingKey'> },
  log: Logger,
): ReleaseNumber {
  return async (number, provider, kept, signal) => {
    const missing = plugins.catalogue.telephony.has(provider)
      ? plugins.missingKey(provider)
      : `There is no plugin "${provider}"`
    if (missing !== undefined) {
      // The key may never be restored; deleting the workspace's data must not wait for it.
      log.error({ phoneNumber: number, provider }, `A number can't be given back and may still be paid for: ${missing}`)
      return
    }
    const { numbers } = await carriers.get(provider)
    await numbers?.release?.(number, signalWithin(CARRIER_TIMEOUT_MS, signal), kept)
  }
}

/** Gives back every number of a workspace; returns how many the carriers have not taken back. */
export async function giveBackNumbers(
  store: Store,
  workspaceId: string,
  { release, log, signal }: { release: ReleaseNumber; log: Logger; signal: AbortSignal },
): Promise<number> {
  const tenant = store.tenant(workspaceId)
  let kept = 0
  for (const { phone_number, provider, bought, delivery_before: before } of await listPhoneNumbers(tenant)) {
    signal.throwIfAborted()
    try {
      const owner = await carrierNumberOf(store, provider, phone_number as PhoneNumber)
      const isAnothers = owner !== undefined && owner.workspace_id !== workspaceId
      if (!isAnothers) await release(phone_number as PhoneNumber, provider, { bought, before }, signal)
      await deletePhoneNumber(tenant, phone_number)
    } catch (err) {
      kept++
      log.warn({ err, phoneNumber: phone_number, provider }, 'Could not release a number of a deleted workspace yet')
    }
  }
  return kept
}

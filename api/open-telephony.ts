import { openCallingLaw } from '../runtime/dialing/calling-law.ts'
import { Carriers } from '../runtime/dialing/carriers.ts'
import type { ResourceStack } from '../runtime/process/resource-stack.ts'
import { dialRulesOf } from '../store/telephony/dial-rules.ts'
import { countCarrierRefusals, measureTrunks } from './metrics.ts'
import type { Infrastructure } from './open-infrastructure.ts'
import type { TelephonyServices } from './services.ts'
import { doorOf } from './telephony/web.ts'
import { openTrunkBook } from './trunks/book.ts'

/** Opens the trunks and the carriers, and loads the law of calling. */
export async function openTelephony(infrastructure: Infrastructure, opened: ResourceStack): Promise<TelephonyServices> {
  const { config, address, registry, plugins, store, redis, clock, log } = infrastructure
  const calling = await openCallingLaw(infrastructure)
  const trunks = await openTrunkBook({ config, store, redis, clock, log })
  opened.push(() => trunks.close())
  const carriers = new Carriers(
    plugins,
    trunks,
    (provider) => doorOf({ ...config, ...address }, provider),
    (workspaceId) => dialRulesOf(store, workspaceId),
  )
  opened.push(() => carriers.close())
  const usable = () => [...plugins.catalogue.telephony.keys()].filter((name) => plugins.missingKey(name) === undefined)
  countCarrierRefusals(registry, carriers, usable)
  measureTrunks(registry, carriers)
  return { carriers, trunks, calling }
}

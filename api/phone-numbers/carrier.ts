import { signalWithin } from '../../runtime/lib/async/signal-within.ts'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { CarrierFault, type CarrierNumbers } from '../../runtime/plugin-sdk/telephony/carrier.ts'
import type { Tenant } from '../../store/database/tenant.ts'
import { hasTrunk } from '../../store/telephony/trunks.ts'
import { ValidationError } from '../schema.ts'
import type { Services } from '../services.ts'

/** A purchase or a registration at a carrier takes seconds at worst. */
const CARRIER_TIMEOUT_MS = 15_000

/** Throws 422 for a provider that is no telephony plugin. */
export function requireProvider({ plugins }: Services, provider: string): void {
  const known = plugins.catalogue.telephony
  if (known.has(provider)) return
  const msg = `must be one of ${[...known.keys()].map((name) => JSON.stringify(name)).join(', ')}`
  throw new ValidationError([{ loc: ['body', 'provider'], msg, type: 'enum' }])
}

/** What the provider's carrier does with numbers. A provider whose key is not set is a fault that says so. */
export async function numbersOf(
  { carriers, plugins }: Services,
  provider: string,
): Promise<CarrierNumbers | undefined> {
  const missing = plugins.missingKey(provider)
  if (missing !== undefined) {
    const title = plugins.titleOf(provider)
    const detail = missing.replace(`${title} can't be used: `, '')
    throw new PatchbayError('provider_fault', { params: { provider: title, detail } })
  }
  return (await carriers.get(provider)).numbers
}

/** As `numbersOf`. Throws 422 when a trunk is named and the provider has none, and `trunk_not_found`. */
export async function requireRegistrable(
  services: Services,
  tenant: Tenant,
  provider: string,
  trunk: string | undefined,
): Promise<CarrierNumbers | undefined> {
  const numbers = await numbersOf(services, provider)
  if (trunk !== undefined && numbers?.register === undefined) {
    const msg = `provider ${JSON.stringify(provider)} has no trunks`
    throw new ValidationError([{ loc: ['body', 'trunk'], msg, type: 'value_error' }])
  }
  if (trunk !== undefined && !(await hasTrunk(tenant, trunk))) throw new PatchbayError('trunk_not_found')
  return numbers
}

/** Runs a carrier's operation within a bound; its fault becomes the 500 that names the provider. */
export async function askCarrier<T>(
  { plugins }: Services,
  provider: string,
  signal: AbortSignal,
  operation: (signal: AbortSignal) => Promise<T> | undefined,
): Promise<T | undefined> {
  const limit = signalWithin(CARRIER_TIMEOUT_MS, signal)
  try {
    return await operation(limit)
  } catch (cause) {
    const detail =
      limit.aborted && !signal.aborted
        ? `it did not answer within ${CARRIER_TIMEOUT_MS / 1000} s`
        : cause instanceof CarrierFault
          ? cause.message
          : undefined
    if (detail === undefined) throw cause
    throw new PatchbayError('provider_fault', { params: { provider: plugins.titleOf(provider), detail }, cause })
  }
}

/** Whether an operation that failed may have taken place all the same: its answer didn't come, or not in time. */
export function mayHaveHappened(error: unknown): boolean {
  if (!(error instanceof PatchbayError)) return true
  return error.code === 'provider_fault' && error.cause !== undefined && !(error.cause instanceof CarrierFault)
}

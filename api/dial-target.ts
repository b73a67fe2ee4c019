import type { Carriers } from '../runtime/dialing/carriers.ts'
import { PatchbayError } from '../runtime/lib/errors.ts'
import { formatDestination, readDestination } from '../runtime/plugin-sdk/telephony/destination.ts'
import type { Tenant } from '../store/database/tenant.ts'
import { extensionByName } from '../store/telephony/extensions.ts'
import { readPhoneNumber } from './phone-number.ts'

/** A number, an extension or a SIP URI, written anew. */
export function readDialTarget(text: string): string | undefined {
  const number = readPhoneNumber(text)
  if (number !== undefined) return number
  const destination = readDestination(text)
  return destination && formatDestination(destination)
}

/** As readDialTarget. Throws `invalid_phone_number`; a missing one is invalid. */
export function requireDestination(text: string | undefined): string {
  const target = readDialTarget(text ?? '')
  if (target === undefined) throw new PatchbayError('invalid_phone_number')
  return target
}

/**
 * As requireDestination, for a call from this number of ours: names are called where an extension of the workspace has it, or the
 * number's carrier takes names.
 */
export async function requireDialTarget(
  tenant: Tenant,
  carriers: Carriers,
  from: string,
  text: string | undefined,
): Promise<string> {
  const to = requireDestination(text)
  if (to.startsWith('+') || (await extensionByName(tenant, to)) !== undefined) return to
  const number = await tenant.db
    .selectFrom('phone_numbers')
    .select('provider')
    .where('phone_number', '=', from)
    .executeTakeFirst()
  const carrier = number && (await carriers.get(number.provider).catch(() => undefined))
  if (carrier?.takesNames !== true) throw new PatchbayError('invalid_phone_number')
  return to
}

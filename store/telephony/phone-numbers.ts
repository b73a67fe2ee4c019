import type { PhoneNumber } from '../../runtime/lib/phone-number.ts'
import type { NumberDelivery } from '../../runtime/plugin-sdk/telephony/carrier.ts'
import type { ListPart } from '../database/list-place.ts'
import type { PhoneNumberRow } from '../database/schema.ts'
import type { Tenant } from '../database/tenant.ts'

/** Throws a unique violation when the workspace has the number already. */
export function insertPhoneNumber(
  tenant: Tenant,
  number: Pick<PhoneNumberRow, 'provider' | 'agent_id' | 'trunk'> & { phone_number: PhoneNumber } & Partial<
      Pick<PhoneNumberRow, 'inbound_webhook' | 'inbound_webhook_secret' | 'bought'>
    >,
): Promise<PhoneNumberRow> {
  return tenant.db.insertInto('phone_numbers').values(number).returningAll().executeTakeFirstOrThrow()
}

/** Numbers that the workspace bought and still has. */
export async function countBoughtNumbers(tenant: Tenant): Promise<number> {
  const { count } = await tenant.db
    .selectFrom('phone_numbers')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('bought', '=', true)
    .executeTakeFirstOrThrow()
  return count
}

/** Where its calls went before they came here. */
export async function keepDelivery(tenant: Tenant, phoneNumber: string, before: NumberDelivery): Promise<void> {
  await tenant.db
    .updateTable('phone_numbers')
    .set({ delivery_before: JSON.stringify(before) })
    .where('phone_number', '=', phoneNumber)
    .execute()
}

/** By number. */
export function listPhoneNumbers(tenant: Tenant, part?: ListPart, updatedSince?: Date): Promise<PhoneNumberRow[]> {
  let query = tenant.db.selectFrom('phone_numbers').selectAll().orderBy('phone_number')
  if (updatedSince !== undefined) query = query.where('updated_at', '>=', updatedSince)
  if (part?.after !== undefined) query = query.where('phone_number', '>', part.after.id)
  if (part !== undefined) query = query.offset(part.offset).limit(part.limit)
  return query.execute()
}

export async function countPhoneNumbers(tenant: Tenant, updatedSince?: Date): Promise<number> {
  let query = tenant.db.selectFrom('phone_numbers')
  if (updatedSince !== undefined) query = query.where('updated_at', '>=', updatedSince)
  const { count } = await query.select((eb) => eb.fn.countAll<number>().as('count')).executeTakeFirstOrThrow()
  return count
}

export function phoneNumberRow(tenant: Tenant, phoneNumber: string): Promise<PhoneNumberRow | undefined> {
  return tenant.db.selectFrom('phone_numbers').selectAll().where('phone_number', '=', phoneNumber).executeTakeFirst()
}

/** Which agent answers, over which trunk, and how many calls there may be; undefined when the workspace has no such number. */
export function changePhoneNumber(
  tenant: Tenant,
  phoneNumber: string,
  changes: Partial<
    Pick<PhoneNumberRow, 'agent_id' | 'trunk' | 'max_concurrent_calls' | 'inbound_webhook' | 'inbound_webhook_secret'>
  >,
): Promise<PhoneNumberRow | undefined> {
  if (Object.keys(changes).length === 0) return phoneNumberRow(tenant, phoneNumber)
  return tenant.db
    .updateTable('phone_numbers')
    .set(changes)
    .where('phone_number', '=', phoneNumber)
    .returningAll()
    .executeTakeFirst()
}

/** False when the workspace has no such number. */
export async function deletePhoneNumber(tenant: Tenant, phoneNumber: string): Promise<boolean> {
  const { numDeletedRows } = await tenant.db
    .deleteFrom('phone_numbers')
    .where('phone_number', '=', phoneNumber)
    .executeTakeFirst()
  return numDeletedRows > 0n
}

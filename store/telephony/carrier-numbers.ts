import type { Selectable } from 'kysely'
import type { PhoneNumber } from '../../runtime/lib/phone-number.ts'
import type { Store } from '../database/database.ts'
import type { CarrierNumbersTable } from '../database/schema.ts'

/** Numbers of the accounts of the operator's carriers, each of one workspace: the one that it was given to, or that bought it. */

export type CarrierNumber = Selectable<CarrierNumbersTable>

/** By number; of all workspaces. */
export function listCarrierNumbers(store: Store): Promise<CarrierNumber[]> {
  return store.global.selectFrom('carrier_numbers').selectAll().orderBy('phone_number').orderBy('provider').execute()
}

export async function carrierNumberOf(
  store: Store,
  provider: string,
  phoneNumber: PhoneNumber,
): Promise<CarrierNumber | undefined> {
  return store.global
    .selectFrom('carrier_numbers')
    .selectAll()
    .where('provider', '=', provider)
    .where('phone_number', '=', phoneNumber)
    .executeTakeFirst()
}

/** Gives a number to a workspace and removes any other registration. */
export async function assignCarrierNumber(
  store: Store,
  number: { provider: string; phoneNumber: PhoneNumber; workspaceId: string; assignedBy: string | null },
): Promise<CarrierNumber> {
  const { provider, phoneNumber, workspaceId, assignedBy } = number
  return store.acrossTenants.transaction().execute(async (trx) => {
    const row = { provider, phone_number: phoneNumber, workspace_id: workspaceId, assigned_by: assignedBy }
    const assigned = await trx
      .insertInto('carrier_numbers')
      .values(row)
      .onConflict((conflict) =>
        conflict
          .columns(['provider', 'phone_number'])
          .doUpdateSet({ workspace_id: workspaceId, assigned_by: assignedBy }),
      )
      .returningAll()
      .executeTakeFirstOrThrow()
    await trx
      .deleteFrom('phone_numbers')
      .where('provider', '=', provider)
      .where('phone_number', '=', phoneNumber)
      .where('workspace_id', '!=', workspaceId)
      .execute()
    return assigned
  })
}

/** Keeps a number that a workspace just bought. False: it is another one's. */
export async function keepBoughtNumber(
  store: Store,
  { provider, phoneNumber, workspaceId }: { provider: string; phoneNumber: PhoneNumber; workspaceId: string },
): Promise<boolean> {
  await store.global
    .insertInto('carrier_numbers')
    .values({ provider, phone_number: phoneNumber, workspace_id: workspaceId, assigned_by: null })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  return (await carrierNumberOf(store, provider, phoneNumber))?.workspace_id === workspaceId
}

/** Takes a number back, with its registration: it is no longer answered. False: it was not assigned. */
export async function removeCarrierNumber(store: Store, provider: string, phoneNumber: PhoneNumber): Promise<boolean> {
  return store.acrossTenants.transaction().execute(async (trx) => {
    await trx
      .deleteFrom('phone_numbers')
      .where('provider', '=', provider)
      .where('phone_number', '=', phoneNumber)
      .execute()
    const { numDeletedRows } = await trx
      .deleteFrom('carrier_numbers')
      .where('provider', '=', provider)
      .where('phone_number', '=', phoneNumber)
      .executeTakeFirst()
    return numDeletedRows > 0n
  })
}

import type { PhoneNumber } from '../../runtime/lib/phone-number.ts'
import type { Store } from '../database/database.ts'

/** A registered number of any workspace. */
export interface CalledNumber {
  workspaceId: string
  agentId: string | null
  /** Name of the trunk it was registered with. */
  trunk: string | null
  /** Asked before anybody answers. */
  inboundWebhook?: string | null
  inboundWebhookSecret?: string | null
}

/**
 * Every workspace that has registered the number with this provider, the earliest first. Of an account of the operator that is only the
 * one it was given to.
 */
export function findCalledNumbers(store: Store, provider: string, phoneNumber: PhoneNumber): Promise<CalledNumber[]> {
  return store.acrossTenants
    .selectFrom('phone_numbers')
    .innerJoin('workspaces', 'workspaces.id', 'phone_numbers.workspace_id')
    .leftJoin('carrier_numbers', (join) =>
      join
        .onRef('carrier_numbers.phone_number', '=', 'phone_numbers.phone_number')
        .onRef('carrier_numbers.provider', '=', 'phone_numbers.provider'),
    )
    .select([
      'phone_numbers.workspace_id as workspaceId',
      'phone_numbers.agent_id as agentId',
      'phone_numbers.trunk',
      'phone_numbers.inbound_webhook as inboundWebhook',
      'phone_numbers.inbound_webhook_secret as inboundWebhookSecret',
    ])
    .where('phone_numbers.phone_number', '=', phoneNumber)
    .where('phone_numbers.provider', '=', provider)
    .where('workspaces.deleted_at', 'is', null)
    .where((eb) =>
      eb.or([
        eb('carrier_numbers.workspace_id', 'is', null),
        eb('carrier_numbers.workspace_id', '=', eb.ref('phone_numbers.workspace_id')),
      ]),
    )
    .orderBy('phone_numbers.created_at')
    .orderBy('phone_numbers.workspace_id')
    .execute()
}

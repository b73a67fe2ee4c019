import type { PhoneNumber } from '../runtime/phone-number.ts'
import type { Store } from './database.ts'

/** A registered number, whoever owns it. */
export interface CalledNumber {
  workspaceId: string
  agentId: string | null
  /** Name of the trunk it was registered with. */
  trunk: string | null
  /** Asked before anybody answers. */
  inboundWebhook?: string | null
  inboundWebhookSecret?: string | null
}

/** Undefined when no workspace has the number with this provider. */
export function findCalledNumber(
  store: Store,
  provider: string,
  phoneNumber: PhoneNumber,
): Promise<CalledNumber | undefined> {
  return store.acrossTenants
    .selectFrom('phone_numbers')
    .innerJoin('workspaces', 'workspaces.id', 'phone_numbers.workspace_id')
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
    .executeTakeFirst()
}

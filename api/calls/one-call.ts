import { PatchbayError } from '../../runtime/lib/errors.ts'
import { type CallWithTurns, callById } from '../../store/calls/calls.ts'
import { OPEN_STATUSES } from '../../store/calls/open-calls.ts'
import type { CallStatus } from '../../store/database/schema.ts'
import type { Tenant } from '../../store/database/tenant.ts'
import { callExample } from './schema.ts'

/** The path parameter of a route about one call. */
export const call_log_id = {
  description: 'The call.',
  notFound: 'call_log_not_found',
  example: callExample.call_log_id,
} as const

/** The workspace's call of this id. Throws `call_log_not_found`. */
export async function requireCall(tenant: Tenant, id: string): Promise<CallWithTurns> {
  const call = await callById(tenant, id)
  if (call === undefined) throw new PatchbayError('call_log_not_found')
  return call
}

/** Nothing of the call is to come, but what is worked out afterwards. */
export function isOver({ status }: { readonly status: CallStatus }): boolean {
  return !OPEN_STATUSES.some((open) => open === status)
}

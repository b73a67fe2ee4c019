import { sql } from 'kysely'
import { uuidv7 } from 'uuidv7'
import type { Webhook } from '../database/schema.ts'
import type { Tenant } from '../database/tenant.ts'
import { publishEvent } from './workspace-events.ts'

/** Where a workspace wants its events sent. */

const NOW = sql<Date>`now()`

type NewWebhook = Pick<Webhook, 'url' | 'types' | 'description' | 'agent_id'>

/** @param sealed makes the sealed secret of the id */
export function insertWebhook(tenant: Tenant, webhook: NewWebhook, sealed: (id: string) => string): Promise<Webhook> {
  const id = uuidv7()
  return tenant.db
    .insertInto('webhooks')
    .values({
      id,
      ...webhook,
      secret: sealed(id),
      old_secret: null,
      old_secret_until: null,
      disabled_reason: null,
      disabled_at: null,
      failing_since: null,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
}

export function listWebhooks(tenant: Tenant): Promise<Webhook[]> {
  return tenant.db.selectFrom('webhooks').selectAll().orderBy('created_at').orderBy('id').execute()
}

export function webhookById(tenant: Tenant, id: string): Promise<Webhook | undefined> {
  return tenant.db.selectFrom('webhooks').selectAll().where('id', '=', id).executeTakeFirst()
}

/** One that is switched on again begins without its past failures. */
export function changeWebhook(
  tenant: Tenant,
  id: string,
  changes: Partial<NewWebhook> & { enabled?: boolean },
): Promise<Webhook | undefined> {
  const { enabled } = changes
  const state =
    enabled === undefined
      ? {}
      : enabled
        ? { disabled_reason: null, disabled_at: null, failing_since: null }
        : { disabled_reason: 'Switched off', disabled_at: NOW }
  return tenant.db
    .updateTable('webhooks')
    .set({ ...changes, ...state, updated_at: NOW })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst()
}

export async function deleteWebhook(tenant: Tenant, id: string): Promise<boolean> {
  const { numDeletedRows } = await tenant.db.deleteFrom('webhooks').where('id', '=', id).executeTakeFirst()
  return numDeletedRows > 0n
}

/** The present secret goes on signing beside the new one until then. */
export function rotateSecret(tenant: Tenant, id: string, sealed: string, oldUntil: Date): Promise<Webhook | undefined> {
  return tenant.db
    .updateTable('webhooks')
    .set({
      old_secret: sql<string>`secret`,
      old_secret_until: oldUntil,
      secret: sealed,
      updated_at: NOW,
    })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst()
}

/** Switches it off and says so, both or neither. False when it was off. */
export function disableWebhook(tenant: Tenant, id: string, reason: string, at: Date): Promise<boolean> {
  return tenant.db.transaction().execute(async (db) => {
    const row = await db
      .updateTable('webhooks')
      .set({ enabled: false, disabled_reason: reason, disabled_at: at, updated_at: at })
      .where('id', '=', id)
      .where('enabled', '=', true)
      .returning(['url', 'agent_id'])
      .executeTakeFirst()
    if (row === undefined) return false
    const data = { webhook_id: id, url: row.url, reason }
    await publishEvent({ ...tenant, db }, { type: 'webhook.disabled', agentId: row.agent_id, data })
    return true
  })
}

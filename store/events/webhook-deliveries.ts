import { type RawBuilder, sql } from 'kysely'
import type { Store } from '../database/database.ts'
import type { ListPart } from '../database/list-place.ts'
import type { DeliveryStatus, WebhookDelivery } from '../database/schema.ts'
import type { Tenant } from '../database/tenant.ts'
import { publishEvent } from './workspace-events.ts'

/** Events on their way to webhooks, and what came of it. */

/** A delivery that is due, with what is needed to send it. */
export interface DueDelivery {
  id: string
  workspaceId: string
  webhookId: string
  eventId: string
  eventAt: Date
  attempts: number
  url: string
  secret: string
  oldSecret: string | null
  failingSince: Date | null
}

/** What came of an attempt. `pending` with `nextAttemptAt`: it is tried again then. */
export interface DeliveryAttempt {
  workspaceId: string
  webhookId: string
  id: string
  status: DeliveryStatus
  nextAttemptAt: Date
  at: Date
  durationMs: number
  responseStatus: number | null
  responseBody: string | null
  error: string | null
}

/** A delivery is claimed for so long, and no longer under way afterwards. */
export const DELIVERY_LEASE_MS = 30_000

/** It was tried, and the next attempt is further away than one that is under way could say. */
const waitsLonger = (delivery: RawBuilder<unknown>) =>
  sql`(${delivery}.status = 'pending' and ${delivery}.attempts > 0
    and ${delivery}.next_attempt_at > now() + ${sql.lit(`${DELIVERY_LEASE_MS} ms`)}::interval)`

/** The webhooks that are switched on. */
export async function enabledWebhooks(store: Pick<Store, 'pool'>): Promise<{ id: string; workspaceId: string }[]> {
  const { rows } = await store.pool.query<{ id: string; workspaceId: string }>({
    name: 'enabled-webhooks',
    text: 'select id, workspace_id as "workspaceId" from webhooks where enabled order by id',
  })
  return rows
}

/** Claims due deliveries for `leaseMs`: of each webhook at most its free window, and `most` in all. */
export async function claimDeliveries(
  store: Pick<Store, 'pool'>,
  { rooms, most }: { rooms: readonly { webhookId: string; room: number }[]; most: number },
  leaseMs: number,
): Promise<DueDelivery[]> {
  if (rooms.length === 0 || most <= 0) return []
  const { rows } = await store.pool.query<DueDelivery>({
    name: 'claim-webhook-deliveries',
    text: `
      with due as (
        select d.* from unnest($1::uuid[], $2::int[]) as asked (webhook_id, room) cross join lateral (
          select workspace_id, webhook_id, id from webhook_deliveries where webhook_id = asked.webhook_id and status = 'pending'
            and next_attempt_at <= now()
          order by next_attempt_at limit asked.room for update skip locked) d
        limit $4)
      update webhook_deliveries d set next_attempt_at = now() + make_interval(secs => $3::float / 1000)
      from due, webhooks w
      where (d.workspace_id, d.webhook_id, d.id) = (due.workspace_id, due.webhook_id, due.id)
        and w.id = d.webhook_id and w.enabled
      returning d.id, d.workspace_id as "workspaceId", d.webhook_id as "webhookId", d.event_id as "eventId",
        d.event_at as "eventAt", d.attempts, w.url, w.secret, w.failing_since as "failingSince",
        case when w.old_secret_until > now() then w.old_secret end as "oldSecret"`,
    values: [rooms.map(({ webhookId }) => webhookId), rooms.map(({ room }) => room), leaseMs, most],
  })
  return rows.sort((a, b) => (a.eventId < b.eventId ? -1 : 1))
}

/** Writes down what came of attempts. */
export async function writeAttempts(store: Pick<Store, 'pool'>, attempts: readonly DeliveryAttempt[]): Promise<void> {
  if (attempts.length === 0) return
  await store.pool.query({
    name: 'write-webhook-attempts',
    text: `
      update webhook_deliveries d set status = a.status, attempts = d.attempts + 1, next_attempt_at = a.next_at,
        last_attempt_at = a.at, duration_ms = a.ms, response_status = a.code, response_body = a.body, error = a.error
      from unnest($1::uuid[], $2::text[], $3::timestamptz[], $4::timestamptz[], $5::int[], $6::int[], $7::text[], $8::text[],
          $9::uuid[], $10::uuid[]) as a (id, status, next_at, at, ms, code, body, error, workspace_id, webhook_id)
      where (d.workspace_id, d.webhook_id, d.id) = (a.workspace_id, a.webhook_id, a.id)`,
    values: [
      attempts.map(({ id }) => id),
      attempts.map(({ status }) => status),
      attempts.map(({ nextAttemptAt }) => nextAttemptAt.toISOString()),
      attempts.map(({ at }) => at.toISOString()),
      attempts.map(({ durationMs }) => Math.round(durationMs)),
      attempts.map(({ responseStatus }) => responseStatus),
      attempts.map(({ responseBody }) => responseBody),
      attempts.map(({ error }) => error),
      attempts.map(({ workspaceId }) => workspaceId),
      attempts.map(({ webhookId }) => webhookId),
    ],
  })
}

/** Nothing is sent to the webhook before that time, by any process. */
export async function postponeDeliveries(store: Pick<Store, 'pool'>, webhookId: string, until: Date): Promise<void> {
  await store.pool.query(
    `update webhook_deliveries set next_attempt_at = $2
     where webhook_id = $1 and status = 'pending' and next_attempt_at < $2`,
    [webhookId, until.toISOString()],
  )
}

/** Notes whether a webhook fails, since when. What waits for one that works again is sent at once. */
export async function noteHealth(
  store: Pick<Store, 'acrossTenants' | 'pool'>,
  webhookId: string,
  failing: boolean,
  at: Date,
): Promise<void> {
  if (failing) {
    const text = 'update webhooks set failing_since = coalesce(failing_since, $2) where id = $1'
    await store.pool.query(text, [webhookId, at.toISOString()])
    return
  }
  await sql`
    with well as (update webhooks set failing_since = null where id = ${webhookId} returning id)
    update webhook_deliveries d set next_attempt_at = now() from well
    where d.webhook_id = well.id and ${waitsLonger(sql`d`)}`.execute(store.acrossTenants)
}

export async function deliveriesPage(
  tenant: Tenant,
  webhookId: string,
  status: DeliveryStatus | undefined,
  { offset, limit, after }: ListPart,
): Promise<{ deliveries: WebhookDelivery[]; total: number }> {
  let query = tenant.db.selectFrom('webhook_deliveries').where('webhook_id', '=', webhookId)
  if (status !== undefined) query = query.where('status', '=', status)
  const [deliveries, count] = await Promise.all([
    (after === undefined ? query.offset(offset) : query.where('id', '<', after.id))
      .selectAll()
      .orderBy('id', 'desc')
      .limit(limit)
      .execute(),
    query.select(({ fn }) => fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
  ])
  return { deliveries, total: Number(count.total) }
}

/** Sends it again now, with all its attempts before it. */
export function redeliver(tenant: Tenant, webhookId: string, id: string): Promise<WebhookDelivery | undefined> {
  return tenant.db
    .updateTable('webhook_deliveries')
    .set({ status: 'pending', attempts: 0, next_attempt_at: sql<Date>`now()` })
    .where('id', '=', id)
    .where('webhook_id', '=', webhookId)
    .returningAll()
    .executeTakeFirst()
}

/**
 * Sends every event since then that the webhook asks for and has not received: those that failed, those that wait for another attempt,
 * and those that happened while it was off or did not exist. Returns how many. One that is under way is left alone.
 */
export async function recoverDeliveries(tenant: Tenant, webhookId: string, since: Date): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    with sent as (
      insert into webhook_deliveries (workspace_id, webhook_id, event_id, event_at, type)
      select e.workspace_id, w.id, e.id, e.created_at, e.type from webhooks w
      join workspace_events e on e.workspace_id = w.workspace_id and (w.agent_id is null or w.agent_id = e.agent_id)
      where w.id = ${webhookId} and w.workspace_id = ${tenant.workspaceId} and e.created_at >= ${since}
        and e.type <> 'webhook.test'
        and exists (select from unnest(w.types) as asked (pattern) where e.type like replace(pattern, '*', '%'))
      order by e.transaction, e.seq
      on conflict (webhook_id, event_id) do update set status = 'pending', attempts = 0, next_attempt_at = now()
        where webhook_deliveries.status = 'failed' or ${waitsLonger(sql`webhook_deliveries`)}
      returning 1)
    select count(*)::integer as count from sent`.execute(tenant.db)
  return rows[0]?.count ?? 0
}

/** Sends an event of the type `webhook.test` to this webhook alone. */
export function testDelivery(tenant: Tenant, webhookId: string): Promise<WebhookDelivery> {
  return tenant.db.transaction().execute(async (db) => {
    const event = await publishEvent({ ...tenant, db }, { type: 'webhook.test', data: { webhook_id: webhookId } })
    return db
      .insertInto('webhook_deliveries')
      .values({
        webhook_id: webhookId,
        event_id: event.id,
        event_at: event.created_at,
        type: 'webhook.test',
        last_attempt_at: null,
        duration_ms: null,
        response_status: null,
        response_body: null,
        error: null,
      })
      .returningAll()
      .executeTakeFirstOrThrow()
  })
}

/** Removes what was sent, or given up, before that. */
export async function removeOldDeliveries(store: Pick<Store, 'pool'>, before: Date): Promise<number> {
  const { rowCount } = await store.pool.query(
    `delete from webhook_deliveries where id in (
       select id from webhook_deliveries where created_at < $1 limit 10000)`,
    [before.toISOString()],
  )
  return rowCount ?? 0
}

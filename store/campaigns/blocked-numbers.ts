import { sql } from 'kysely'
import { REST_LOOKBACK, restsUntil } from '../../runtime/dialing/number-rest.ts'
import type { Tenant } from '../database/tenant.ts'
import { publishEvent } from '../events/workspace-events.ts'

interface BlockedAttempt {
  id: string
  from_number: string
  call_id: string
  /** The network's words. */
  error: string | null
}

/** Publishes `number.blocked` for each number whose rest begins with these attempts, which were just settled. */
export async function publishBlockedNumbers(
  tenant: Tenant,
  attempts: readonly BlockedAttempt[],
  now: Date,
): Promise<void> {
  const byNumber = Map.groupBy(attempts, ({ from_number }) => from_number)
  for (const [number, own] of byNumber) {
    const { rows } = await sql<{ id: string; phone: string; outcome: string; ended_at: Date }>`
      select id, phone, outcome, ended_at from prospect_attempts
      where workspace_id = ${tenant.workspaceId} and from_number = ${number}
        and created_at > ${new Date(now.getTime() - 86_400_000)} and ended_at is not null and outcome <> 'skipped'
      order by created_at desc limit ${sql.lit(REST_LOOKBACK + own.length)}`.execute(tenant.db)
    // One callee whose network blocks us several times says nothing of the number.
    const blocksOf = (those: typeof rows): number[] => {
      const blocked = those.slice(0, REST_LOOKBACK).filter(({ outcome }) => outcome === 'blocked')
      const byCallee = new Map(blocked.reverse().map(({ phone, ended_at }) => [phone, ended_at.getTime()]))
      return [...byCallee.values()]
    }
    const untilMs = restsUntil(blocksOf(rows), now.getTime())
    const before = rows.filter(({ id }) => own.every((one) => one.id !== id))
    if (untilMs === undefined || restsUntil(blocksOf(before), now.getTime()) !== undefined) continue
    const last = own.at(-1)
    const data = {
      phone_number: number,
      blocked: blocksOf(rows).length,
      of_last: Math.min(rows.length, REST_LOOKBACK),
      rests_until: new Date(untilMs).toISOString(),
      reason: last?.error ?? null,
      call_log_id: last?.call_id ?? null,
    }
    await publishEvent(tenant, { type: 'number.blocked', data })
  }
}

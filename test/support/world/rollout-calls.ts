import { sql } from 'kysely'
import { uuidv7 } from 'uuidv7'
import type { Store } from '../../../store/database/database.ts'

/** Writes analysed calls that are over, as the split of the agent's rollout chose them. */
export async function writeRolloutCalls(
  store: Store,
  agentId: string,
  version: number,
  { good, bad }: { good: number; bad: number },
): Promise<void> {
  for (let n = 0; n < good + bad; n++) {
    await sql`
      insert into calls (id, workspace_id, agent_id, agent_name, call_type, direction, status, answered_at, ended_at,
        agent_version, rollout_id, analysis, turn_latencies_ms, cost_llm, cost_stt, cost_tts, platform_cost)
      select ${uuidv7()}::uuid, workspace_id, id, agent_name, 'phone', 'inbound', 'completed', now(), now(),
        ${version}::int, (rollout ->> 'id')::uuid, jsonb_build_object('success', ${n < good}::boolean), '{400,800}', 0, 0, 0, 0
      from agents where id = ${agentId}::uuid`.execute(store.acrossTenants)
  }
}

/** The calls of version 2 come to less: 90 % of the old one's were a success, half of its own. */
export async function writeWorseCalls(store: Store, agentId: string): Promise<void> {
  await writeRolloutCalls(store, agentId, 1, { good: 180, bad: 20 })
  await writeRolloutCalls(store, agentId, 2, { good: 25, bad: 25 })
}

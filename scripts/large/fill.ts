import type pg from 'pg'

const PIECE = 100_000
/** Of the transcripts and logs of calls: so much of each call has text. */
const DAYS = 60

/**
 * Calls of a workspace as months leave them, with a transcript and a log each. `admin` is the superuser: triggers would count each row by
 * itself.
 */
export async function fillCalls(
  admin: pg.Client,
  { agentId, calls, say }: { agentId: string; calls: number; say(line: string): void },
): Promise<void> {
  await admin.query('set session_replication_role = replica')
  const parameters = (from: number, to: number) => [agentId, from, to]
  for (let from = 0; from < calls; from += PIECE) {
    const to = Math.min(from + PIECE, calls) - 1
    await admin.query(
      `insert into calls (id, workspace_id, agent_id, agent_name, call_type, direction, status, end_reason, disposition, from_number,
         to_number, created_at, answered_at, ended_at, duration_ms, summary, llm_input_tokens, tts_characters, cost_llm, cost_stt, cost_tts,
         platform_cost, turn_latencies_ms)
       select md5('call ' || i)::uuid, a.workspace_id, a.id, a.agent_name, 'phone', 'outbound', 'completed', 'caller_hangup', 'completed',
         '+12125550100', '+1212' || 2000000 + i, at, at + interval '4 s', at + interval '64 s', 60000,
         'The caller asked when the shop opens on day ' || i, 1200, 300, 0.01, 0.004, 0.006, 0.02, array[400, 520, 610]
       from agents a, generate_series($2::int, $3::int) i,
         lateral (select now() - interval '1 hour' - (i % ${DAYS * 1_440}) * interval '1 minute' as at) t
       where a.id = $1`,
      parameters(from, to),
    )
    await admin.query(
      `insert into call_turns (workspace_id, call_id, seq, role, text, start_ms, end_ms)
       select a.workspace_id, md5('call ' || i)::uuid, n, case n % 2 when 0 then 'assistant' else 'user' end,
         'Line ' || n || ' of call ' || i || ': we are open from nine to five on weekdays, and from ten on Saturday.', n * 4000, n * 4000 + 3500
       from agents a, generate_series($2::int, $3::int) i, generate_series(0, 3) n where a.id = $1`,
      parameters(from, to),
    )
    await admin.query(
      `insert into call_events (workspace_id, call_id, first_seq, last_seq, at, events)
       select a.workspace_id, md5('call ' || i)::uuid, 1, 2, now(),
         json_build_array(json_build_object('seq', 1, 'type', 'answered'), json_build_object('seq', 2, 'type', 'ended', 'reason', 'caller_hangup'))
       from agents a, generate_series($2::int, $3::int) i where a.id = $1`,
      parameters(from, to),
    )
    say(`${to + 1} calls`)
  }
  await admin.query('set session_replication_role = origin')
  await admin.query('analyze')
}

/**
 * Sums of calls by hour and by day, kept by triggers in the transaction that changes a call, so that a report over a
 * million calls reads some thousand rows and is never behind.
 *
 * A statement's deltas are added in key order: two statements that touch the same sums cannot deadlock. There is no
 * reference to workspaces, because a cascade would remove the sums before the calls' own trigger subtracts from them;
 * deleting a workspace deletes its sums last.
 */
export const sql = `
create table call_rollups (
  workspace_id uuid not null,
  grain text not null check (grain in ('hour', 'day')),
  bucket timestamptz not null,
  agent_id uuid not null,
  call_type text not null,
  disposition text not null,
  calls bigint not null,
  answered bigint not null,
  duration_ms bigint not null,
  tokens bigint not null,
  cost_llm double precision not null,
  cost_stt double precision not null,
  cost_tts double precision not null,
  platform_cost double precision not null,
  known_llm bigint not null,
  known_stt bigint not null,
  known_tts bigint not null,
  known_platform bigint not null,
  primary key (workspace_id, grain, bucket, agent_id, call_type, disposition)
);

create function call_rollups_add() returns trigger language plpgsql as $$
declare
  changed text := case tg_op
    when 'INSERT' then 'select 1 as sign, * from new_calls'
    when 'DELETE' then 'select -1 as sign, * from old_calls'
    else 'select 1 as sign, * from new_calls union all select -1 as sign, * from old_calls'
  end;
begin
  execute format($q$
    insert into call_rollups as r
    select workspace_id, grain, date_trunc(grain, created_at, 'UTC') as bucket, agent_id, call_type,
      coalesce(disposition, '') as disposition,
      sum(sign), sum(sign * (answered_at is not null)::int), sum(sign * coalesce(duration_ms, 0)),
      sum(sign * (llm_input_tokens + llm_output_tokens)),
      sum(sign * coalesce(cost_llm, 0)), sum(sign * coalesce(cost_stt, 0)),
      sum(sign * coalesce(cost_tts, 0)), sum(sign * coalesce(platform_cost, 0)),
      sum(sign * (cost_llm is not null)::int), sum(sign * (cost_stt is not null)::int),
      sum(sign * (cost_tts is not null)::int), sum(sign * (platform_cost is not null)::int)
    from (%s) as changed cross join (values ('hour'), ('day')) as grains (grain)
    group by 1, 2, 3, 4, 5, 6
    having sum(sign) <> 0 or sum(sign * (answered_at is not null)::int) <> 0
      or sum(sign * coalesce(duration_ms, 0)) <> 0 or sum(sign * (llm_input_tokens + llm_output_tokens)) <> 0
      or sum(sign * coalesce(cost_llm, 0)) <> 0 or sum(sign * (cost_llm is not null)::int) <> 0
      or sum(sign * coalesce(cost_stt, 0)) <> 0 or sum(sign * (cost_stt is not null)::int) <> 0
      or sum(sign * coalesce(cost_tts, 0)) <> 0 or sum(sign * (cost_tts is not null)::int) <> 0
      or sum(sign * coalesce(platform_cost, 0)) <> 0 or sum(sign * (platform_cost is not null)::int) <> 0
    order by 1, 2, 3, 4, 5, 6
    on conflict (workspace_id, grain, bucket, agent_id, call_type, disposition) do update set
      calls = r.calls + excluded.calls, answered = r.answered + excluded.answered,
      duration_ms = r.duration_ms + excluded.duration_ms, tokens = r.tokens + excluded.tokens,
      cost_llm = r.cost_llm + excluded.cost_llm, cost_stt = r.cost_stt + excluded.cost_stt,
      cost_tts = r.cost_tts + excluded.cost_tts, platform_cost = r.platform_cost + excluded.platform_cost,
      known_llm = r.known_llm + excluded.known_llm, known_stt = r.known_stt + excluded.known_stt,
      known_tts = r.known_tts + excluded.known_tts, known_platform = r.known_platform + excluded.known_platform
  $q$, changed);
  return null;
end $$;

create trigger calls_inserted after insert on calls referencing new table as new_calls
  for each statement execute function call_rollups_add();
create trigger calls_updated after update on calls referencing old table as old_calls new table as new_calls
  for each statement execute function call_rollups_add();
create trigger calls_deleted after delete on calls referencing old table as old_calls
  for each statement execute function call_rollups_add();
`

/**
 * Sums of calls also by direction, status, campaign, version of the agent and what the analysis came to. Sums made before, or by
 * a node of the version before, have no status: they are made anew, and until then a report by the new columns reads the calls.
 */
export const sql = `
alter table call_rollups
  add column direction text not null default '',
  add column status text not null default '',
  add column campaign_slug text not null default '',
  add column analysed text not null default '',
  add column agent_version integer not null default 0;

create or replace view summed_calls as
  select workspace_id, created_at, agent_id, coalesce(agent_version, 0) as agent_version, call_type,
    coalesce(campaign_slug, '') as campaign_slug, coalesce(disposition, '') as disposition,
    1 as n, (answered_at is not null)::int as answered, coalesce(duration_ms, 0) as duration_ms,
    (llm_input_tokens + llm_output_tokens)::bigint as tokens, coalesce(cost_llm, 0) as cost_llm,
    coalesce(cost_stt, 0) as cost_stt, coalesce(cost_tts, 0) as cost_tts, coalesce(platform_cost, 0) as platform_cost,
    (cost_llm is not null)::int as known_llm, (cost_stt is not null)::int as known_stt,
    (cost_tts is not null)::int as known_tts, (platform_cost is not null)::int as known_platform,
    direction, status, coalesce(analysis->>'disposition', '') as analysed
  from calls
  union all
  select c.workspace_id, c.created_at, side.agent_id, coalesce(side.agent_version, 0), c.call_type,
    coalesce(c.campaign_slug, ''), coalesce(c.disposition, ''),
    0, 0, 0, side.sign * s.tokens, side.sign * coalesce(s.cost_llm, 0),
    side.sign * coalesce(s.cost_stt, 0), side.sign * coalesce(s.cost_tts, 0), 0,
    (side.sign > 0 and s.cost_llm is not null)::int, (side.sign > 0 and s.cost_stt is not null)::int,
    (side.sign > 0 and s.cost_tts is not null)::int, 0,
    c.direction, c.status, coalesce(c.analysis->>'disposition', '')
  from call_shares s join calls c on c.id = s.call_id and c.workspace_id = s.workspace_id
    cross join lateral (values (s.agent_id, null::integer, 1), (c.agent_id, c.agent_version, -1)) as side (agent_id, agent_version, sign);

create or replace trigger calls_updated after update on calls for each row
  when ((old.created_at < clock_timestamp() - interval '30 minutes'
      or new.created_at < clock_timestamp() - interval '30 minutes')
    and (old.workspace_id, old.created_at, old.agent_id, old.call_type, old.disposition, old.answered_at is null,
        old.duration_ms, old.llm_input_tokens, old.llm_output_tokens, old.cost_llm, old.cost_stt, old.cost_tts,
        old.platform_cost, old.direction, old.status, old.campaign_slug, old.agent_version,
        old.analysis->>'disposition')
      is distinct from
      (new.workspace_id, new.created_at, new.agent_id, new.call_type, new.disposition, new.answered_at is null,
        new.duration_ms, new.llm_input_tokens, new.llm_output_tokens, new.cost_llm, new.cost_stt, new.cost_tts,
        new.platform_cost, new.direction, new.status, new.campaign_slug, new.agent_version,
        new.analysis->>'disposition'))
  execute function mark_call_hours();
`

/** Instead of the primary key, which would hold every column that is grouped by. */
export const indexes = [
  { name: 'call_rollups_by_bucket', on: 'call_rollups (workspace_id, grain, bucket)' },
  { name: 'call_rollups_plain', on: "call_rollups (workspace_id, bucket) where grain = 'hour' and status = ''" },
]

export const withoutKey = 'alter table call_rollups drop constraint call_rollups_pkey'

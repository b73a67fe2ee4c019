/** Keys of a workspace's own accounts at providers, sealed; whether the operator allows them; and what those accounts are billed. */
export const sql = `
create table workspace_provider_keys (
  id uuid primary key,
  workspace_id uuid not null references workspaces (id) on delete cascade,
  provider text not null,
  variable text not null,
  value text not null,
  hint text not null,
  set_by uuid references users (id) on delete set null,
  set_at timestamptz not null default now(),
  unique (workspace_id, provider, variable)
);
create index workspace_provider_keys_set_by on workspace_provider_keys (set_by) where set_by is not null;

alter table workspace_quotas add column own_keys boolean not null default true;

alter table calls add column cost_own_keys double precision not null default 0;
alter table call_shares add column cost_own_keys double precision not null default 0;
alter table call_rollups add column cost_own_keys double precision not null default 0;

create or replace view summed_calls as
  select workspace_id, created_at, agent_id, coalesce(agent_version, 0) as agent_version, call_type,
    coalesce(campaign_slug, '') as campaign_slug, coalesce(disposition, '') as disposition,
    1 as n, (answered_at is not null)::int as answered, coalesce(duration_ms, 0) as duration_ms,
    (llm_input_tokens + llm_output_tokens)::bigint as tokens, coalesce(cost_llm, 0) as cost_llm,
    coalesce(cost_stt, 0) as cost_stt, coalesce(cost_tts, 0) as cost_tts, coalesce(platform_cost, 0) as platform_cost,
    (cost_llm is not null)::int as known_llm, (cost_stt is not null)::int as known_stt,
    (cost_tts is not null)::int as known_tts, (platform_cost is not null)::int as known_platform,
    direction, status, coalesce(analysis->>'disposition', '') as analysed, cost_own_keys
  from calls
  union all
  select c.workspace_id, c.created_at, side.agent_id, coalesce(side.agent_version, 0), c.call_type,
    coalesce(c.campaign_slug, ''), coalesce(c.disposition, ''),
    0, 0, 0, side.sign * s.tokens, side.sign * coalesce(s.cost_llm, 0),
    side.sign * coalesce(s.cost_stt, 0), side.sign * coalesce(s.cost_tts, 0), 0,
    (side.sign > 0 and s.cost_llm is not null)::int, (side.sign > 0 and s.cost_stt is not null)::int,
    (side.sign > 0 and s.cost_tts is not null)::int, 0,
    c.direction, c.status, coalesce(c.analysis->>'disposition', ''), side.sign * s.cost_own_keys
  from call_shares s join calls c on c.id = s.call_id and c.workspace_id = s.workspace_id
    cross join lateral (values (s.agent_id, null::integer, 1), (c.agent_id, c.agent_version, -1)) as side (agent_id, agent_version, sign);
`

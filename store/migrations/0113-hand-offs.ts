/**
 * Procedures of agents, the agent that a chat was handed to, and what of a call's use is that of other agents than its first. `summed_calls` has
 * each call as a row of sums, and for each such agent two rows without a call: its use, and as much taken from the first.
 */
export const sql = `
alter table agents add column procedures jsonb not null default '[]' check (jsonb_typeof(procedures) = 'array');
alter table chats
  add column present_agent_id uuid,
  -- What was carried to it, and the procedure that it follows.
  add column state jsonb not null default '{}' check (jsonb_typeof(state) = 'object');

create table call_shares (
  workspace_id uuid not null references workspaces (id) on delete cascade,
  call_id uuid not null references calls (id) on delete cascade,
  -- No reference: it stays when the agent is deleted.
  agent_id uuid not null,
  tokens bigint not null default 0,
  -- Null: a price is not known.
  cost_llm double precision,
  cost_stt double precision,
  cost_tts double precision,
  primary key (call_id, agent_id)
);
create index call_shares_workspace on call_shares (workspace_id);

create view summed_calls as
  select workspace_id, created_at, agent_id, agent_version, call_type, campaign_slug, coalesce(disposition, '') as disposition,
    1 as n, (answered_at is not null)::int as answered, coalesce(duration_ms, 0) as duration_ms,
    (llm_input_tokens + llm_output_tokens)::bigint as tokens, coalesce(cost_llm, 0) as cost_llm,
    coalesce(cost_stt, 0) as cost_stt, coalesce(cost_tts, 0) as cost_tts, coalesce(platform_cost, 0) as platform_cost,
    (cost_llm is not null)::int as known_llm, (cost_stt is not null)::int as known_stt,
    (cost_tts is not null)::int as known_tts, (platform_cost is not null)::int as known_platform
  from calls
  union all
  select c.workspace_id, c.created_at, side.agent_id, side.agent_version, c.call_type, c.campaign_slug, coalesce(c.disposition, ''),
    0, 0, 0, side.sign * s.tokens, side.sign * coalesce(s.cost_llm, 0),
    side.sign * coalesce(s.cost_stt, 0), side.sign * coalesce(s.cost_tts, 0), 0,
    (side.sign > 0 and s.cost_llm is not null)::int, (side.sign > 0 and s.cost_stt is not null)::int,
    (side.sign > 0 and s.cost_tts is not null)::int, 0
  from call_shares s join calls c on c.id = s.call_id and c.workspace_id = s.workspace_id
    cross join lateral (values (s.agent_id, null::integer, 1), (c.agent_id, c.agent_version, -1)) as side (agent_id, agent_version, sign);
`

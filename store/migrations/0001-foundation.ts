/**
 * Users, workspaces, agents, phone numbers, calls. Times are timestamptz; ids are UUIDv7 made by the application.
 * Every table that belongs to a workspace has a `workspace_id`, which store/database/tenant.ts binds. A call keeps the id and
 * name of its agent after the agent is deleted, so `calls.agent_id` is no foreign key.
 */
export const sql = `
create table users (
  id uuid primary key,
  name text not null,
  email text not null,
  password_hash text not null,
  phone_number text not null,
  current_workspace_id uuid,
  created_at timestamptz not null default now()
);
create unique index users_email on users (lower(email));

create table refresh_tokens (
  id uuid primary key,
  family_id uuid not null,
  user_id uuid not null references users (id) on delete cascade,
  token_hash bytea not null unique,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  rotated_at timestamptz,
  revoked_at timestamptz
);
create index refresh_tokens_family on refresh_tokens (family_id);
create index refresh_tokens_user on refresh_tokens (user_id);

create table workspaces (
  id uuid primary key,
  name text not null,
  type text not null,
  slug text not null unique,
  created_at timestamptz not null default now(),
  deleted_at timestamptz
);
alter table users add foreign key (current_workspace_id) references workspaces (id) on delete set null;

create table memberships (
  workspace_id uuid not null references workspaces (id) on delete cascade,
  user_id uuid not null references users (id) on delete cascade,
  role text not null check (role in ('member', 'developer', 'admin')),
  joined_at timestamptz not null default now(),
  primary key (workspace_id, user_id)
);
create index memberships_user on memberships (user_id);

create table api_keys (
  id uuid primary key,
  workspace_id uuid not null references workspaces (id) on delete cascade,
  name text not null,
  prefix text not null,
  key_hash bytea not null unique,
  created_at timestamptz not null default now(),
  last_used_at timestamptz
);
create index api_keys_workspace on api_keys (workspace_id);

create table agents (
  id uuid primary key,
  workspace_id uuid not null references workspaces (id) on delete cascade,
  agent_name text not null,
  llm_provider text not null,
  llm_model text not null,
  temperature double precision not null,
  system_prompt text not null,
  first_message text not null,
  stt_provider text not null,
  stt_model text not null,
  tts_provider text not null,
  tts_voice text not null,
  tools jsonb not null default '[]',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index agents_workspace on agents (workspace_id, id);

create table phone_numbers (
  phone_number text primary key,
  workspace_id uuid not null references workspaces (id) on delete cascade,
  agent_id uuid references agents (id) on delete set null,
  provider text not null,
  trunk text,
  created_at timestamptz not null default now()
);
create index phone_numbers_workspace on phone_numbers (workspace_id);
create index phone_numbers_agent on phone_numbers (agent_id);

create table calls (
  id uuid primary key,
  workspace_id uuid not null references workspaces (id) on delete cascade,
  -- No reference: a call keeps the agent's id and name after the agent is gone, and deleting an agent rewrites no calls.
  agent_id uuid not null,
  agent_name text not null,
  call_type text not null check (call_type in ('phone', 'web')),
  direction text not null check (direction in ('inbound', 'outbound')),
  status text not null check (status in
    ('queued', 'ringing', 'in_progress', 'completed', 'failed', 'busy', 'no_answer', 'canceled')),
  end_reason text,
  disposition text,
  from_number text,
  to_number text,
  dynamic_variables jsonb not null default '{}',
  session_id text,
  batch_id uuid,
  campaign_slug text,
  created_at timestamptz not null default now(),
  answered_at timestamptz,
  ended_at timestamptz,
  duration_ms bigint,
  summary text,
  recording_key text,
  llm_input_tokens bigint not null default 0,
  llm_output_tokens bigint not null default 0,
  stt_seconds double precision not null default 0,
  tts_characters bigint not null default 0,
  cost_llm double precision,
  cost_stt double precision,
  cost_tts double precision,
  platform_cost double precision,
  turn_latencies_ms integer[] not null default '{}',
  error text
);
create index calls_workspace_created on calls (workspace_id, created_at desc, id desc);
create index calls_workspace_agent_created on calls (workspace_id, agent_id, created_at desc, id desc);
create index calls_open on calls (status, created_at) where status in ('queued', 'ringing', 'in_progress');
create unique index calls_live_session on calls (workspace_id, session_id)
  where session_id is not null and status in ('queued', 'ringing', 'in_progress');

create table call_turns (
  workspace_id uuid not null references workspaces (id) on delete cascade,
  call_id uuid not null references calls (id) on delete cascade,
  seq integer not null,
  role text not null check (role in ('user', 'assistant')),
  text text not null,
  start_ms integer not null,
  end_ms integer not null,
  interrupted boolean not null default false,
  primary key (call_id, seq)
);
create index call_turns_workspace on call_turns (workspace_id);

-- How many calls each hour and each minute saw: a page of the call log is found by summing these, whatever its number.
-- Kept for each agent and call type, and for any of them: then the id is all zeros and the type empty.
create table call_counts (
  workspace_id uuid not null references workspaces (id) on delete cascade,
  span text not null check (span in ('hour', 'minute')),
  agent_id uuid not null,
  call_type text not null,
  bucket timestamptz not null,
  calls integer not null,
  primary key (workspace_id, span, agent_id, call_type, bucket)
);

create function count_calls() returns trigger language plpgsql as $$
begin
  insert into call_counts (workspace_id, span, agent_id, call_type, bucket, calls)
  select workspace_id, span, coalesce(agent_id, '00000000-0000-0000-0000-000000000000'), coalesce(call_type, ''),
    date_trunc(span, created_at, 'UTC') as bucket, count(*)
  from changed, (values ('hour'), ('minute')) as spans (span)
  group by grouping sets (
    (workspace_id, span, bucket), (workspace_id, span, bucket, call_type),
    (workspace_id, span, bucket, agent_id), (workspace_id, span, bucket, agent_id, call_type))
  order by 1, 2, 3, 4, 5
  on conflict (workspace_id, span, agent_id, call_type, bucket) do update set calls = call_counts.calls + excluded.calls;
  return null;
end $$;
create trigger calls_counted after insert on calls
  referencing new table as changed for each statement execute function count_calls();

create function uncount_calls() returns trigger language plpgsql as $$
begin
  update call_counts set calls = call_counts.calls - gone.calls
  from (
    select workspace_id, span, coalesce(agent_id, '00000000-0000-0000-0000-000000000000') as agent_id,
      coalesce(call_type, '') as call_type, date_trunc(span, created_at, 'UTC') as bucket, count(*) as calls
    from changed, (values ('hour'), ('minute')) as spans (span)
    group by grouping sets (
      (workspace_id, span, bucket), (workspace_id, span, bucket, call_type),
      (workspace_id, span, bucket, agent_id), (workspace_id, span, bucket, agent_id, call_type))
    ) as gone
  where (call_counts.workspace_id, call_counts.span, call_counts.agent_id, call_counts.call_type, call_counts.bucket)
    = (gone.workspace_id, gone.span, gone.agent_id, gone.call_type, gone.bucket);
  return null;
end $$;
create trigger calls_uncounted after delete on calls
  referencing old table as changed for each statement execute function uncount_calls();
`

/** The SIP messages of a call's legs, and calls that were turned away before they were any agent's. */
export const sql = `
create table call_ladders (
  call_id uuid not null references calls (id) on delete cascade,
  leg smallint not null,
  workspace_id uuid not null references workspaces (id) on delete cascade,
  messages jsonb not null,
  created_at timestamptz not null default now(),
  primary key (call_id, leg)
);
create index call_ladders_created on call_ladders (created_at);
create index call_ladders_workspace on call_ladders (workspace_id);
create table refused_calls (
  id uuid primary key,
  workspace_id uuid not null references workspaces (id) on delete cascade,
  at timestamptz not null,
  trunk text,
  reason text not null,
  detail text not null,
  from_number text,
  to_number text,
  address text not null,
  sip_call_id text not null,
  sip_status integer not null
);
create index refused_calls_at on refused_calls (workspace_id, at desc, id desc);
create index refused_calls_old on refused_calls (at);
`

/** Softphones that register with us. `password` is sealed (runtime/lib/secret-box.ts); `username` is what they log in as. */
export const sql = `
create table extensions (
  id uuid primary key,
  workspace_id uuid not null references workspaces (id) on delete cascade,
  name text not null,
  display_name text,
  username text not null unique,
  password text not null,
  agent_id uuid references agents (id) on delete set null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (workspace_id, name)
);
create index extensions_agent on extensions (agent_id);
`

/** Tests of agents, and what came of their runs. A case is one run of one test. */
export const sql = `
create table agent_tests (
  id uuid primary key,
  workspace_id uuid not null references workspaces (id) on delete cascade,
  -- Null: of any agent.
  agent_id uuid references agents (id) on delete cascade,
  name text not null,
  tags text[] not null,
  definition jsonb not null,
  -- The file it came from, with its comments.
  source text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index agent_tests_of on agent_tests (workspace_id, id);
create index agent_tests_agent on agent_tests (agent_id) where agent_id is not null;

create table test_runs (
  id uuid primary key,
  workspace_id uuid not null references workspaces (id) on delete cascade,
  agent_id uuid not null references agents (id) on delete cascade,
  -- 'live', 'draft' or the number of a version.
  version text not null,
  status text not null default 'running' check (status in ('running', 'done', 'canceled')),
  total integer not null,
  passed integer not null default 0,
  failed integer not null default 0,
  unsure integer not null default 0,
  broken integer not null default 0,
  cost_usd double precision default 0,
  created_at timestamptz not null default now(),
  ended_at timestamptz
);
create index test_runs_of on test_runs (workspace_id, id);
create index test_runs_agent on test_runs (agent_id, id);

create table test_cases (
  id uuid primary key,
  workspace_id uuid not null references workspaces (id) on delete cascade,
  run_id uuid not null references test_runs (id) on delete cascade,
  test_id uuid,
  position integer not null,
  repeat integer not null,
  name text not null,
  definition jsonb not null,
  verdict text check (verdict in ('pass', 'fail', 'unsure', 'error')),
  result jsonb,
  attempts integer not null default 0,
  next_attempt_at timestamptz not null default now(),
  ended_at timestamptz,
  unique (run_id, position, repeat)
);
create index test_cases_waiting on test_cases (workspace_id, id) where verdict is null;
create index test_cases_workspace on test_cases (workspace_id);
`

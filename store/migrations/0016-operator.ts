/**
 * What the operator decides: who may sign up, what each workspace may use, whose a trunk's host is. Links that work once,
 * invitations that wait, what is kept how long, and who did what.
 */
export const sql = `
create table instance_settings (
  -- One row.
  one_row boolean primary key default true check (one_row),
  -- null: what the configuration says.
  signup text check (signup in ('open', 'invitation', 'closed')),
  updated_at timestamptz not null default now()
);
insert into instance_settings default values;

-- null: no limit, every provider. No row: all of it null, and purchases allowed.
create table workspace_quotas (
  workspace_id uuid primary key references workspaces (id) on delete cascade,
  calls_at_once integer,
  web_sessions_at_once integer,
  agents integer,
  documents integer,
  storage_bytes bigint,
  minutes_a_month integer,
  cost_usd_a_month double precision,
  purchases boolean not null default true,
  providers text[]
);

create table trunk_hosts (
  id uuid primary key,
  -- In lower case, without port.
  host text not null,
  workspace_id uuid not null references workspaces (id) on delete cascade,
  approved_by uuid,
  created_at timestamptz not null default now(),
  unique (host, workspace_id)
);

create table one_time_links (
  id uuid primary key,
  kind text not null check (kind in ('password_reset', 'verify_email', 'signup')),
  token_hash bytea not null unique,
  user_id uuid references users (id) on delete cascade,
  email text not null,
  created_by uuid,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  used_at timestamptz
);
create index one_time_links_user on one_time_links (user_id);

create table invitations (
  id uuid primary key,
  workspace_id uuid not null references workspaces (id) on delete cascade,
  user_id uuid not null references users (id) on delete cascade,
  role text not null check (role in ('member', 'developer', 'admin')),
  invited_by uuid,
  created_at timestamptz not null default now(),
  unique (workspace_id, user_id)
);
create index invitations_user on invitations (user_id);

-- Days; null: for ever.
create table workspace_retention (
  workspace_id uuid primary key references workspaces (id) on delete cascade,
  recordings_days integer check (recordings_days > 0),
  transcripts_days integer check (transcripts_days > 0),
  chats_days integer check (chats_days > 0),
  logs_days integer check (logs_days > 0)
);

-- No reference to workspaces or users: what they did outlives them. Rows are added, and by retention alone removed.
create table audit_log (
  id uuid primary key,
  at timestamptz not null default now(),
  workspace uuid,
  actor_kind text not null check (actor_kind in ('user', 'key', 'shell')),
  actor_id uuid,
  actor_name text not null,
  action text not null,
  resource text not null,
  detail jsonb not null default '{}',
  address text not null,
  request_id text not null
);
create index audit_log_workspace on audit_log (workspace, id desc);
create function refuse_audit_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' and current_setting('patchbay.audit_retention', true) = 'on' then return old; end if;
  raise exception 'The audit log is append-only';
end $$;
create trigger audit_log_append_only before update or delete on audit_log
  for each row execute function refuse_audit_change();
create trigger audit_log_no_truncate before truncate on audit_log
  for each statement execute function refuse_audit_change();
`

/**
 * What keys may do and how long; the sessions of users, which access tokens name; answers kept by `Idempotency-Key`;
 * suspended workspaces; and the numbers of slugs, so that the thousandth workspace of a name costs what the second did.
 */
export const sql = `
alter table api_keys
  add column scopes text[] not null default '{read,calls}',
  add column expires_at timestamptz,
  add column created_by uuid;

alter table users
  add column signed_out_at timestamptz,
  add column email_verified_at timestamptz,
  add column is_operator boolean not null default false;

create table sessions (
  id uuid primary key,
  user_id uuid not null references users (id) on delete cascade,
  created_at timestamptz not null default now(),
  used_at timestamptz not null default now(),
  expires_at timestamptz not null,
  address text not null default '',
  user_agent text not null default '',
  ended_at timestamptz
);
create index sessions_user on sessions (user_id);
insert into sessions (id, user_id, created_at, used_at, expires_at, ended_at)
  select family_id, user_id, min(created_at), max(created_at), max(expires_at), min(revoked_at)
  from refresh_tokens group by family_id, user_id;

alter table workspaces
  add column suspended_at timestamptz,
  add column suspended_reason text;

create table slug_numbers (base text primary key, last bigint not null);
insert into slug_numbers (base, last)
  select regexp_replace(slug, '-[0-9]{1,9}$', ''), max(substring(slug from '-([0-9]{1,9})$')::bigint)
  from workspaces where slug ~ '-[0-9]{1,9}$' group by 1;

create table idempotency_keys (
  workspace_id uuid not null references workspaces (id) on delete cascade,
  key text not null,
  request_hash bytea not null,
  -- null: under way outside the database, or broken off there.
  answer text,
  created_at timestamptz not null default now(),
  primary key (workspace_id, key)
);
create index idempotency_keys_created on idempotency_keys (created_at);
`

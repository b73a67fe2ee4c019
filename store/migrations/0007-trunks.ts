/** SIP trunks. `password` is sealed (runtime/lib/secret-box.ts). Phone numbers name a trunk of their workspace. */
export const sql = `
create table trunks (
  id uuid primary key,
  workspace_id uuid not null references workspaces (id) on delete cascade,
  name text not null,
  host text not null,
  transport text not null check (transport in ('udp', 'tcp', 'tls')),
  register boolean not null,
  username text,
  password text,
  allowed_addresses jsonb not null,
  codecs jsonb not null,
  max_concurrent_calls integer not null,
  max_calls_per_second real not null,
  countries jsonb not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (workspace_id, name)
);
`

/** Keys of providers and carriers, sealed; of a workspace or, without one, of the installation. */
export const sql = `
create table provider_keys (
  id uuid primary key,
  workspace_id uuid references workspaces (id) on delete cascade,
  provider text not null,
  variable text not null,
  value text not null,
  hint text not null,
  set_by uuid references users (id) on delete set null,
  set_at timestamptz not null default now()
);
create unique index provider_keys_one on provider_keys
  (coalesce(workspace_id, '00000000-0000-0000-0000-000000000000'), provider, variable);
create index provider_keys_workspace on provider_keys (workspace_id) where workspace_id is not null;
create index provider_keys_set_by on provider_keys (set_by) where set_by is not null;
`

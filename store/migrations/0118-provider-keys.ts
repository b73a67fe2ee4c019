/** Keys of providers and carriers, sealed; of the installation. */
export const sql = `
create table provider_keys (
  id uuid primary key,
  provider text not null,
  variable text not null,
  value text not null,
  hint text not null,
  set_by uuid references users (id) on delete set null,
  set_at timestamptz not null default now(),
  unique (provider, variable)
);
create index provider_keys_set_by on provider_keys (set_by) where set_by is not null;
`

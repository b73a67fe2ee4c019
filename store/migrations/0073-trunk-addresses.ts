/**
 * Which addresses the trunks of a workspace have: those a trunk lists, and those its hosts resolved to. An address is one
 * workspace's. What trunks list already stays theirs.
 */
export const sql = `
create table trunk_addresses (
  trunk_id uuid not null references trunks (id) on delete cascade,
  workspace_id uuid not null references workspaces (id) on delete cascade,
  -- An address or a range.
  address inet not null,
  -- Whether the trunk lists it; else one of its hosts resolved to it.
  listed boolean not null,
  seen_at timestamptz not null default now(),
  primary key (trunk_id, address)
);
create index trunk_addresses_address on trunk_addresses using gist (address inet_ops);
create index trunk_addresses_workspace on trunk_addresses (workspace_id);

insert into trunk_addresses (trunk_id, workspace_id, address, listed)
  select t.id, t.workspace_id, regexp_replace(a.entry, '^::ffff:([0-9.]+)$', '\\1', 'i')::inet, true
  from trunks t, jsonb_array_elements_text(t.allowed_addresses) as a (entry)
  where a.entry ~ '^[0-9A-Fa-f.:]+(/[1-9][0-9]{0,2})?$'
  on conflict do nothing;
`

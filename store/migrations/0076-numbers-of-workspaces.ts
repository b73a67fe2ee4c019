/**
 * A number is a workspace's: over trunks of their own several may have the same one. Numbers of the accounts of the operator's carriers
 * belong to the workspace that the operator gave them, or that bought them: one each.
 */
export const sql = `
create table carrier_numbers (
  provider text not null,
  phone_number text not null,
  workspace_id uuid not null references workspaces (id) on delete cascade,
  -- null: bought by the workspace, or registered before numbers were assigned.
  assigned_by uuid,
  created_at timestamptz not null default now(),
  primary key (provider, phone_number)
);
create index carrier_numbers_workspace on carrier_numbers (workspace_id);
insert into carrier_numbers (provider, phone_number, workspace_id, created_at)
  select provider, phone_number, workspace_id, created_at from phone_numbers where provider not in ('sip', 'sim');

alter table phone_numbers
  -- null: it is not known; the carrier tells.
  add column bought boolean,
  -- What the carrier had for it before its calls were delivered here.
  add column delivery_before jsonb;
alter table phone_numbers drop constraint phone_numbers_pkey;
alter table phone_numbers add primary key (workspace_id, phone_number);
drop index phone_numbers_workspace;
create index phone_numbers_called on phone_numbers (phone_number, provider);
`

/** Who signs in by an identity provider, and the memberships that its groups give. */
export const sql = `
create table user_identities (
  issuer text not null,
  subject text not null,
  user_id uuid not null references users (id) on delete cascade,
  created_at timestamptz not null default now(),
  primary key (issuer, subject)
);
create index user_identities_user on user_identities (user_id);
alter table memberships add column from_groups boolean not null default false;
`

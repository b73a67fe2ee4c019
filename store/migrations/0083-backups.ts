/** Backups that were made of this installation, wherever their files are: their age is a metric. */
export const sql = `
create table backups (
  id uuid primary key,
  made_at timestamptz not null default now(),
  host text not null,
  path text not null,
  size_bytes bigint not null,
  rows bigint not null,
  recordings_missing integer not null,
  verified_at timestamptz
);
create index backups_made on backups (made_at);
`

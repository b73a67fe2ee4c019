/** What happens at the door: logins, refused ones, links, keys. Rows are added, and by retention alone removed. */
export const sql = `
create table security_log (
  id uuid primary key,
  at timestamptz not null default now(),
  kind text not null,
  user_id uuid,
  account text not null,
  workspace uuid,
  detail jsonb not null default '{}',
  address text not null,
  request_id text not null
);
create index security_log_user on security_log (user_id, id desc);
create trigger security_log_append_only before update or delete on security_log
  for each row execute function refuse_audit_change();
create trigger security_log_no_truncate before truncate on security_log
  for each statement execute function refuse_audit_change();
`

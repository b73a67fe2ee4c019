/** Erasing a person may remove their number from the paths in the audit log, and nothing else. */
export const sql = `
create or replace function refuse_audit_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' and current_setting('patchbay.audit_retention', true) = 'on' then return old; end if;
  if tg_op = 'UPDATE' and tg_table_name = 'audit_log' and current_setting('patchbay.audit_erasure', true) = 'on'
    and to_jsonb(new) - 'resource' = to_jsonb(old) - 'resource' then return new; end if;
  raise exception 'The audit log is append-only';
end $$;
`

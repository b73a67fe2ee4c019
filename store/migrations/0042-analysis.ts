/** What a call came to, found out after its end: which calls wait for it, and what was found. */
export const sql = `
alter table agents add column analysis jsonb not null default '{"summary": true}';
alter table calls add column analysis jsonb;

create table call_analyses (
  call_id uuid primary key references calls (id) on delete cascade,
  workspace_id uuid not null,
  attempts integer not null default 0,
  next_attempt_at timestamptz not null default now()
);
create index call_analyses_due on call_analyses (next_attempt_at);
create index call_analyses_workspace on call_analyses (workspace_id);

create function ask_for_analysis() returns trigger language plpgsql as $$
begin
  insert into call_analyses (call_id, workspace_id) values (new.id, new.workspace_id) on conflict do nothing;
  return null;
end $$;
create trigger calls_to_analyse after update of status on calls for each row
  when (new.status = 'completed' and old.status <> 'completed') execute function ask_for_analysis();

create or replace function tell_of_call() returns trigger language plpgsql as $$
begin
  insert into workspace_events (workspace_id, type, subject, agent_id, data)
  select new.workspace_id, told.type, new.id, new.agent_id, to_jsonb(new) from (values
    ('call.ringing', old.status = 'queued' and new.status = 'ringing'),
    ('call.answered', old.status in ('queued', 'ringing') and new.status = 'in_progress'),
    ('call.ended', old.status in ('queued', 'ringing', 'in_progress')
      and new.status not in ('queued', 'ringing', 'in_progress')),
    ('call.analyzed', old.analysis is distinct from new.analysis and new.analysis is not null),
    ('recording.ready', old.recording_key is null and new.recording_key is not null)
  ) as told (type, happened) where told.happened;
  return null;
end $$;
drop trigger calls_told on calls;
create trigger calls_told after update of status, recording_key, analysis on calls for each row
  when (old.status <> new.status or old.recording_key is distinct from new.recording_key
    or old.analysis is distinct from new.analysis)
  execute function tell_of_call();
`

/** The rollout of an agent, and on calls the one that chose their version by its split. */
export const sql = `
alter table agents add column rollout jsonb;
alter table calls add column rollout_id uuid;
create index agent_versions_listed on agent_versions (agent_id, number) where deleted_at is null;
create index agents_with_rollout on agents (id) where rollout is not null;

drop trigger agents_told on agents;
create trigger agents_told after update on agents for each row
  when (to_jsonb(old) - '{knowledge_version,updated_at,live_version,live_digest,unpublished,rollout}'::text[]
    is distinct from to_jsonb(new) - '{knowledge_version,updated_at,live_version,live_digest,unpublished,rollout}'::text[])
  execute function tell_of_agent();
create or replace function tell_of_agent() returns trigger language plpgsql as $$
begin
  insert into workspace_events (workspace_id, type, subject, agent_id, data)
  values (new.workspace_id, 'agent.changed', new.id, new.id,
    to_jsonb(new) - '{knowledge_version,live_version,live_digest,unpublished,rollout}'::text[]
      || jsonb_build_object('tools', without_header_values(to_jsonb(new) -> 'tools')));
  return null;
end $$;
`

/**
 * Immutable versions of agents, and the version on calls and chats. The row of an agent is its draft; `live_version` is what calls get.
 * Every agent that is there begins with version 1.
 */
export const sql = `
alter table agents
  add column publishing text not null default 'immediate' check (publishing in ('immediate', 'manual')),
  add column live_version integer,
  add column live_digest text,
  add column unpublished boolean not null default false;
alter table calls add column agent_version integer;
alter table chats add column agent_version integer;

create table agent_versions (
  id uuid primary key default gen_random_uuid(),
  agent_id uuid not null references agents (id) on delete cascade,
  workspace_id uuid not null references workspaces (id) on delete cascade,
  number integer not null,
  -- The agent's columns by their names, and its documents.
  content jsonb not null,
  digest text not null,
  note text not null default '',
  -- Id and name; null: Patchbay itself, when documents were added or removed.
  published_by jsonb,
  created_at timestamptz not null default now(),
  -- A deleted version is kept for the calls that it serves.
  deleted_at timestamptz,
  unique (agent_id, number)
);
create index agent_versions_workspace on agent_versions (workspace_id);

insert into agent_versions (agent_id, workspace_id, number, content, digest, created_at)
select a.id, a.workspace_id, 1, c.content, encode(sha256(convert_to(c.content::text, 'UTF8')), 'hex'), a.updated_at
from agents a, lateral (
  select to_jsonb(a) - '{id,workspace_id,agent_name,public_access,knowledge_version,created_at,updated_at,publishing,live_version,live_digest,unpublished}'::text[]
    || jsonb_build_object('documents', coalesce((
      select jsonb_agg(jsonb_build_object('id', d.id, 'filename', d.filename) order by d.id)
      from documents d where d.agent_id = a.id and d.status = 'ready'), '[]')) as content
) c;
update agents a set live_version = v.number, live_digest = v.digest from agent_versions v where v.agent_id = a.id;

-- What is live is no change of the agent; it is read when the event is shown.
drop trigger agents_told on agents;
create trigger agents_told after update on agents for each row
  when (to_jsonb(old) - '{knowledge_version,updated_at,live_version,live_digest,unpublished}'::text[]
    is distinct from to_jsonb(new) - '{knowledge_version,updated_at,live_version,live_digest,unpublished}'::text[])
  execute function tell_of_agent();
create or replace function tell_of_agent() returns trigger language plpgsql as $$
begin
  insert into workspace_events (workspace_id, type, subject, agent_id, data)
  values (new.workspace_id, 'agent.changed', new.id, new.id,
    to_jsonb(new) - '{knowledge_version,live_version,live_digest,unpublished}'::text[]
      || jsonb_build_object('tools', without_header_values(to_jsonb(new) -> 'tools')));
  return null;
end $$;
`

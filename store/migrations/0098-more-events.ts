/**
 * Further events of agents, numbers, batches, uploads, entries of the do-not-call list, chats and campaigns. `data` of an agent
 * is its row as it was then, with the names of its tools' headers and not their sealed values. What goes with its workspace publishes
 * nothing.
 */
export const sql = `
create function workspace_lives(id uuid) returns boolean language sql stable as $$
  select exists (select from workspaces w where w.id = $1 and w.deleted_at is null)
$$;

create function names_of(headers jsonb) returns jsonb language sql immutable as $$
  select coalesce(jsonb_object_agg(name, ''), '{}') from jsonb_object_keys(headers) name
$$;

create function without_header_values(tools jsonb) returns jsonb language sql immutable as $$
  select coalesce(jsonb_agg(
    case
      when tool #> '{http,headers}' is not null then jsonb_set(tool, '{http,headers}', names_of(tool #> '{http,headers}'))
      when tool -> 'headers' is not null then jsonb_set(tool, '{headers}', names_of(tool -> 'headers'))
      else tool
    end order by at), '[]')
  from jsonb_array_elements(tools) with ordinality as listed (tool, at)
$$;

create or replace function tell_of_agent() returns trigger language plpgsql as $$
begin
  insert into workspace_events (workspace_id, type, subject, agent_id, data)
  values (new.workspace_id, 'agent.changed', new.id, new.id,
    to_jsonb(new) - 'knowledge_version' || jsonb_build_object('tools', without_header_values(to_jsonb(new) -> 'tools')));
  return null;
end $$;

create function tell_of_deleted_agent() returns trigger language plpgsql as $$
begin
  if workspace_lives(old.workspace_id) then
    insert into workspace_events (workspace_id, type, subject, agent_id, data)
    values (old.workspace_id, 'agent.deleted', old.id, old.id,
      jsonb_build_object('agent_id', old.id, 'agent_name', old.agent_name));
  end if;
  return null;
end $$;
create trigger agents_told_deleted after delete on agents for each row execute function tell_of_deleted_agent();

create function tell_of_number() returns trigger language plpgsql as $$
declare
  it phone_numbers;
begin
  if tg_op = 'DELETE' then
    it := old;
  else
    it := new;
  end if;
  if workspace_lives(it.workspace_id) then
    insert into workspace_events (workspace_id, type, agent_id, data)
    values (it.workspace_id,
      case tg_op when 'INSERT' then 'number.added' when 'DELETE' then 'number.removed' else 'number.changed' end,
      it.agent_id, jsonb_build_object(
        'phone_number', it.phone_number, 'provider', it.provider, 'trunk', it.trunk, 'agent_id', it.agent_id));
  end if;
  return null;
end $$;
create trigger numbers_told after insert or delete on phone_numbers for each row execute function tell_of_number();
create trigger numbers_told_changed after update on phone_numbers for each row
  when (old.agent_id is distinct from new.agent_id or old.trunk is distinct from new.trunk)
  execute function tell_of_number();

create or replace function tell_of_batch() returns trigger language plpgsql as $$
begin
  insert into workspace_events (workspace_id, type, subject, agent_id, data)
  select new.workspace_id, told.type, new.id, new.agent_id, to_jsonb(new) from (values
    ('batch.started', new.status = 'running' and old.status in ('pending', 'scheduled')),
    ('batch.paused', new.status = 'paused'),
    ('batch.resumed', new.status = 'running' and old.status = 'paused'),
    ('batch.completed', new.status = 'completed'),
    ('batch.canceled', new.status = 'canceled')
  ) as told (type, happened) where told.happened;
  return null;
end $$;

create function tell_of_upload() returns trigger language plpgsql as $$
begin
  insert into workspace_events (workspace_id, type, subject, data)
  values (new.workspace_id, 'upload.' || new.status, new.id, to_jsonb(new) || jsonb_build_object(
    'campaign_slug', (select slug from campaigns where id = new.campaign_id)));
  return null;
end $$;
create trigger uploads_told after update of status on prospect_uploads for each row
  when (old.status <> new.status and new.status in ('completed', 'failed')) execute function tell_of_upload();

create function tell_of_removed_do_not_call() returns trigger language plpgsql as $$
begin
  if workspace_lives(old.workspace_id) then
    insert into workspace_events (workspace_id, type, data)
    values (old.workspace_id, 'do_not_call.removed', jsonb_build_object('phone_number', old.phone));
  end if;
  return null;
end $$;
create trigger do_not_call_told_removed after delete on do_not_call for each row
  execute function tell_of_removed_do_not_call();

create function tell_of_chat() returns trigger language plpgsql as $$
begin
  insert into workspace_events (workspace_id, type, subject, agent_id, data)
  values (new.workspace_id, 'chat.started', new.id, new.agent_id, jsonb_build_object(
    'chat_id', new.id, 'agent_id', new.agent_id, 'session_id', new.session_id));
  return null;
end $$;
create trigger chats_told after insert on chats for each row execute function tell_of_chat();
create trigger chats_forgotten after delete on chats referencing old table as old_rows
  for each statement execute function forget_told();

create function tell_of_deleted_campaign() returns trigger language plpgsql as $$
begin
  insert into workspace_events (workspace_id, type, subject, agent_id, data)
  values (new.workspace_id, 'campaign.deleted', new.id, new.agent_id, jsonb_build_object(
    'slug', new.slug, 'name', new.name, 'active', new.active, 'paused', new.paused, 'pause_reason', new.pause_reason));
  return null;
end $$;
create trigger campaigns_told_deleted after update of deleted_at on campaigns for each row
  when (old.deleted_at is null and new.deleted_at is not null) execute function tell_of_deleted_campaign();
`

/**
 * What happens in a workspace, for webhooks and live streams. An event is inserted by the statement that makes it true, so
 * it is there exactly when that was committed. Its place is (transaction, seq): a reader goes no further than the oldest
 * transaction that still runs, and so misses none that commits late. Partitioned by day (store/events/workspace-events.ts);
 * what no partition was made for lies in workspace_events_rest.
 *
 * `data` of a call, a batch or a document is its row as it was then. `subject` is what the event goes away with.
 */
export const sql = `
create sequence workspace_events_seq;

-- UUIDv7 (RFC 9562, 5.7): the time in ms, then random bits.
create function uuid_of_now() returns uuid language sql volatile parallel safe as $$
  select encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
    placing substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6),
    52, 1), 53, 1), 'hex')::uuid
$$;

create table workspace_events (
  id uuid not null default uuid_of_now(),
  workspace_id uuid not null,
  transaction xid8 not null default pg_current_xact_id(),
  seq bigint not null default nextval('workspace_events_seq'),
  type text not null,
  subject uuid,
  agent_id uuid,
  data jsonb not null,
  created_at timestamptz not null default clock_timestamp(),
  primary key (id, created_at)
) partition by range (created_at);
create index workspace_events_place on workspace_events (transaction, seq);
create index workspace_events_of on workspace_events (workspace_id, transaction, seq);
create index workspace_events_subject on workspace_events (subject);
create table workspace_events_rest partition of workspace_events default;

-- One row: how far events were given to webhooks.
create table workspace_events_routed (
  one_row boolean primary key default true check (one_row),
  transaction xid8 not null,
  seq bigint not null,
  at timestamptz not null
);
insert into workspace_events_routed (transaction, seq, at) values (pg_current_xact_id(), 0, now());

create table webhooks (
  id uuid primary key,
  workspace_id uuid not null references workspaces (id) on delete cascade,
  url text not null,
  types text[] not null,
  description text not null,
  agent_id uuid,
  secret text not null,
  old_secret text,
  old_secret_until timestamptz,
  enabled boolean not null default true,
  disabled_reason text,
  disabled_at timestamptz,
  -- Since when every attempt failed.
  failing_since timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index webhooks_of on webhooks (workspace_id, created_at);

create table webhook_deliveries (
  id uuid primary key default uuid_of_now(),
  workspace_id uuid not null,
  webhook_id uuid not null references webhooks (id) on delete cascade,
  event_id uuid not null,
  event_at timestamptz not null,
  type text not null,
  status text not null default 'pending' check (status in ('pending', 'delivered', 'failed')),
  attempts integer not null default 0,
  -- Of a pending one: not before. Whoever sends it moves it on, so that nobody else does meanwhile.
  next_attempt_at timestamptz not null default now(),
  last_attempt_at timestamptz,
  duration_ms integer,
  response_status integer,
  response_body text,
  error text,
  created_at timestamptz not null default clock_timestamp(),
  unique (webhook_id, event_id)
) with (fillfactor = 80);
create index webhook_deliveries_due on webhook_deliveries (webhook_id, next_attempt_at) where status = 'pending';
create index webhook_deliveries_newest on webhook_deliveries (webhook_id, id desc);
create index webhook_deliveries_old on webhook_deliveries (created_at);
create index webhook_deliveries_workspace on webhook_deliveries (workspace_id);

create function tell_of_new_calls() returns trigger language plpgsql as $$
begin
  insert into workspace_events (workspace_id, type, subject, agent_id, data)
  select workspace_id, 'call.queued', id, agent_id, to_jsonb(c) from new_rows c where status = 'queued';
  return null;
end $$;
create trigger calls_told_new after insert on calls referencing new table as new_rows
  for each statement execute function tell_of_new_calls();

create function tell_of_call() returns trigger language plpgsql as $$
begin
  insert into workspace_events (workspace_id, type, subject, agent_id, data)
  select new.workspace_id, told.type, new.id, new.agent_id, to_jsonb(new) from (values
    ('call.ringing', old.status = 'queued' and new.status = 'ringing'),
    ('call.answered', old.status in ('queued', 'ringing') and new.status = 'in_progress'),
    ('call.ended', old.status in ('queued', 'ringing', 'in_progress')
      and new.status not in ('queued', 'ringing', 'in_progress')),
    ('recording.ready', old.recording_key is null and new.recording_key is not null)
  ) as told (type, happened) where told.happened;
  return null;
end $$;
create trigger calls_told after update of status, recording_key on calls for each row
  when (old.status <> new.status or old.recording_key is distinct from new.recording_key)
  execute function tell_of_call();

create function tell_of_batch() returns trigger language plpgsql as $$
begin
  insert into workspace_events (workspace_id, type, subject, agent_id, data)
  select new.workspace_id, told.type, new.id, new.agent_id, to_jsonb(new) from (values
    ('batch.started', new.status = 'running' and old.status in ('pending', 'scheduled')),
    ('batch.completed', new.status = 'completed'),
    ('batch.canceled', new.status = 'canceled')
  ) as told (type, happened) where told.happened;
  return null;
end $$;
create trigger batches_told after update of status on batches for each row
  when (old.status <> new.status) execute function tell_of_batch();

create function tell_of_document() returns trigger language plpgsql as $$
begin
  insert into workspace_events (workspace_id, type, subject, agent_id, data)
  values (new.workspace_id, 'document.' || new.status, new.id, new.agent_id, to_jsonb(new));
  return null;
end $$;
create trigger documents_told after update of status on documents for each row
  when (old.status <> new.status and new.status in ('ready', 'failed')) execute function tell_of_document();

create function tell_of_agent() returns trigger language plpgsql as $$
begin
  insert into workspace_events (workspace_id, type, subject, agent_id, data)
  values (new.workspace_id, 'agent.changed', new.id, new.id, '{}');
  return null;
end $$;
create trigger agents_told_new after insert on agents for each row execute function tell_of_agent();
-- What its knowledge base holds is counted on the same row.
create trigger agents_told after update on agents for each row
  when (to_jsonb(old) - 'knowledge_version' - 'updated_at' is distinct from to_jsonb(new) - 'knowledge_version' - 'updated_at')
  execute function tell_of_agent();

create function tell_of_campaign() returns trigger language plpgsql as $$
begin
  insert into workspace_events (workspace_id, type, subject, agent_id, data)
  values (new.workspace_id,
    case when not new.paused then 'campaign.started'
      when new.pause_reason = 'budget_reached' then 'campaign.budget_reached'
      when new.pause_reason = 'too_many_failures' then 'campaign.breaker_opened'
      else 'campaign.paused' end,
    new.id, new.agent_id, jsonb_build_object(
      'slug', new.slug, 'name', new.name, 'active', new.active, 'paused', new.paused, 'pause_reason', new.pause_reason));
  return null;
end $$;
create trigger campaigns_told_new after insert on campaigns for each row
  when (not new.paused and new.active) execute function tell_of_campaign();
create trigger campaigns_told after update of paused on campaigns for each row
  when (old.paused <> new.paused) execute function tell_of_campaign();

-- Those who were never called are canceled by the million.
create function tell_of_prospect() returns trigger language plpgsql as $$
begin
  insert into workspace_events (workspace_id, type, subject, data)
  values (new.workspace_id, 'prospect.resolved', new.id, to_jsonb(new) || jsonb_build_object(
    'campaign', (select slug from campaigns where id = new.campaign_id)));
  return null;
end $$;
create trigger prospects_told after update of status on prospects for each row
  when (new.status = 'resolved' and old.status <> 'resolved' and new.attempts > 0) execute function tell_of_prospect();

create function tell_of_do_not_call() returns trigger language plpgsql as $$
begin
  insert into workspace_events (workspace_id, type, subject, data)
  values (new.workspace_id, 'do_not_call.added', new.call_id, jsonb_build_object(
    'phone_number', new.phone, 'reason', new.reason, 'source', new.source, 'call_log_id', new.call_id));
  return null;
end $$;
create trigger do_not_call_told after insert on do_not_call for each row
  when (new.source <> 'upload') execute function tell_of_do_not_call();

-- What is erased takes what was told of it along.
create function forget_told() returns trigger language plpgsql as $$
begin
  delete from workspace_events e using old_rows o where e.subject = o.id;
  return null;
end $$;
create trigger calls_forgotten after delete on calls referencing old table as old_rows
  for each statement execute function forget_told();
create trigger prospects_forgotten after delete on prospects referencing old table as old_rows
  for each statement execute function forget_told();
`

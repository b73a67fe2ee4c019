/**
 * Calls that are dialled without a seat. `seat_share`: the part of a seat such a call is reckoned with until somebody picks up;
 * null: it has one of its own before it is dialled. `picked_up_at`: since when its callee waits, or waited, for an agent.
 *
 * What campaigns tell: that nobody is left to call, once until somebody is again, and that a promised call back was not made.
 */
export const sql = `
alter table calls add column seat_share double precision, add column picked_up_at timestamptz;
alter table campaigns add column abandoned_message text not null default '';

alter table campaign_runs add column completed_at timestamptz;
create function tell_of_completed_campaign() returns trigger language plpgsql as $$
begin
  insert into workspace_events (workspace_id, type, subject, agent_id, data)
  select c.workspace_id, 'campaign.completed', c.id, c.agent_id, jsonb_build_object(
    'slug', c.slug, 'name', c.name, 'active', c.active, 'paused', c.paused, 'pause_reason', c.pause_reason)
  from campaigns c where c.id = new.campaign_id;
  return null;
end $$;
create trigger campaign_runs_told after update of completed_at on campaign_runs for each row
  when (old.completed_at is null and new.completed_at is not null) execute function tell_of_completed_campaign();

alter table prospects add column call_back_missed_at timestamptz;
create index prospects_call_backs on prospects (campaign_id) where status = 'waiting' and call_back_at is not null;
create index prospects_call_backs_late on prospects (call_back_at)
  where status = 'waiting' and call_back_at is not null and call_back_missed_at is null;
create function tell_of_missed_call_back() returns trigger language plpgsql as $$
begin
  insert into workspace_events (workspace_id, type, subject, data)
  values (new.workspace_id, 'prospect.callback_missed', new.id, to_jsonb(new) || jsonb_build_object(
    'campaign', (select slug from campaigns where id = new.campaign_id)));
  return null;
end $$;
create trigger prospects_missed after update of call_back_missed_at on prospects for each row
  when (old.call_back_missed_at is null and new.call_back_missed_at is not null)
  execute function tell_of_missed_call_back();
`

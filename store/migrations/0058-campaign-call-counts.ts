/**
 * How many calls of a campaign are placed, ring, wait and talk, updated by each writer of a call's state, in its transaction: a
 * status and a turn count nothing. Each change adds rows of its own, so that no two wait for each other; a campaign's turn adds
 * them up from time to time. `seats` is what those are reckoned with that don't talk yet, exact, however often it is added up.
 *
 * `campaign_id`: whose prospect is called; null for test calls, and for calls that were over before there were such counts.
 */
export const sql = `
alter table calls add column campaign_id uuid;

create table campaign_call_counts (
  campaign_id uuid not null,
  workspace_id uuid not null,
  state text not null,
  n integer not null,
  seats numeric not null
);
create index campaign_call_counts_campaign on campaign_call_counts (campaign_id);

-- Null: it is over.
create function campaign_call_state(status text, picked_up_at timestamptz) returns text language sql immutable as $$
  select case
    when status = 'ringing' and picked_up_at is not null then 'waiting'
    when status in ('queued', 'ringing', 'in_progress') then status
  end
$$;

create function campaign_call_counts_add() returns trigger language plpgsql as $$
begin
  insert into campaign_call_counts (campaign_id, workspace_id, state, n, seats)
  select campaign_id, workspace_id, state, sign, case state when 'in_progress' then 0 else sign * coalesce(seat_share::numeric, 1) end
  from (values
    (old.campaign_id, old.workspace_id, campaign_call_state(old.status, old.picked_up_at), old.seat_share, -1),
    (new.campaign_id, new.workspace_id, campaign_call_state(new.status, new.picked_up_at), new.seat_share, 1)
  ) as changed (campaign_id, workspace_id, state, seat_share, sign)
  where campaign_id is not null and state is not null;
  return null;
end $$;

create trigger calls_of_campaign_made after insert on calls for each row
  when (new.campaign_id is not null)
  execute function campaign_call_counts_add();
create trigger calls_of_campaign_changed after update on calls for each row
  when ((old.campaign_id is not null or new.campaign_id is not null)
    and (old.status, old.picked_up_at, old.seat_share, old.campaign_id) is distinct from
      (new.status, new.picked_up_at, new.seat_share, new.campaign_id))
  execute function campaign_call_counts_add();
create trigger calls_of_campaign_removed after delete on calls for each row
  when (old.campaign_id is not null)
  execute function campaign_call_counts_add();

update calls c set campaign_id = a.campaign_id from prospect_attempts a
where a.call_id = c.id and a.ended_at is null and c.status in ('queued', 'ringing', 'in_progress');
`

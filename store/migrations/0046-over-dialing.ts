/**
 * Calls that are dialled without a seat. `seat_share`: such a call's share of a seat until the callee picks up;
 * null: it has one of its own before it is dialled. `picked_up_at`: since when its callee waits, or waited, for an agent.
 *
 * Completion and missed call-backs are recorded once they are published.
 */
export const sql = `
alter table calls add column seat_share double precision, add column picked_up_at timestamptz;
alter table campaigns add column abandoned_message text not null default '';

alter table campaign_runs add column completed_at timestamptz;
alter table prospects add column call_back_missed_at timestamptz;
create index prospects_call_backs on prospects (campaign_id) where status = 'waiting' and call_back_at is not null;
create index prospects_call_backs_late on prospects (call_back_at)
  where status = 'waiting' and call_back_at is not null and call_back_missed_at is null;
`

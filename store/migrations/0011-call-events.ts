/**
 * What happened in calls, as a journal: one row holds the events of one call that were written together. Partitioned by
 * month, so that what is too old goes at once; the partitions are made by store/calls/call-events.ts.
 */
export const sql = `
create table call_events (
  workspace_id uuid not null,
  call_id uuid not null,
  first_seq integer not null,
  last_seq integer not null,
  at timestamptz not null,
  events json not null,
  primary key (call_id, first_seq, at)
) partition by range (at);

create index call_events_by_workspace on call_events (workspace_id);
`

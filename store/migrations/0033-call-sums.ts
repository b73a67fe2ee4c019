/**
 * Sums of calls by hour and day are computed from the calls well after their hour, not by the writers of calls. What
 * is newer is summed when it is asked for. Who changes a call of an older hour marks the hour: its sums hold no more until
 * they are made anew.
 *
 * `folded_until` is the end of the hours that have sums; it stays an hour behind the 30 minutes after which a change marks.
 * So a transaction may take half an hour between its write and its commit and is still seen.
 */
export const sql = `
drop trigger calls_counted on calls;
drop trigger calls_uncounted on calls;
drop function count_calls();
drop function uncount_calls();
drop table call_counts;

drop trigger calls_inserted on calls;
drop trigger calls_updated on calls;
drop trigger calls_deleted on calls;
drop function call_rollups_add();

create table call_rollup_state (
  one_row boolean primary key default true check (one_row),
  folded_until timestamptz not null
);
insert into call_rollup_state (folded_until) values (date_trunc('hour', now(), 'UTC') - interval '2 hours');
delete from call_rollups using call_rollup_state
where bucket + case grain when 'hour' then interval '1 hour' else interval '1 day' end > folded_until;

create table call_rollup_changes (
  workspace_id uuid not null,
  bucket timestamptz not null,
  -- The last transaction that marked it: one that changes many calls of an hour writes once.
  marked_by xid8 not null,
  primary key (workspace_id, bucket)
);

create function mark_call_hours() returns trigger language plpgsql as $$
begin
  insert into call_rollup_changes as c (workspace_id, bucket, marked_by)
  select distinct of, date_trunc('hour', at, 'UTC'), pg_current_xact_id()
  from (values (old.workspace_id, old.created_at), (new.workspace_id, new.created_at)) as changed (of, at)
  where of is not null
  order by 1, 2
  on conflict (workspace_id, bucket) do update set marked_by = excluded.marked_by
    where c.marked_by <> excluded.marked_by;
  return null;
end $$;

create function mark_hours_of_deleted_calls() returns trigger language plpgsql as $$
begin
  insert into call_rollup_changes as c (workspace_id, bucket, marked_by)
  select distinct workspace_id, date_trunc('hour', created_at, 'UTC'), pg_current_xact_id()
  from gone order by 1, 2
  on conflict (workspace_id, bucket) do update set marked_by = excluded.marked_by
    where c.marked_by <> excluded.marked_by;
  return null;
end $$;

create trigger calls_inserted after insert on calls for each row
  when (new.created_at < clock_timestamp() - interval '30 minutes')
  execute function mark_call_hours();
create trigger calls_updated after update on calls for each row
  when ((old.created_at < clock_timestamp() - interval '30 minutes'
      or new.created_at < clock_timestamp() - interval '30 minutes')
    and (old.workspace_id, old.created_at, old.agent_id, old.call_type, old.disposition, old.answered_at is null,
        old.duration_ms, old.llm_input_tokens, old.llm_output_tokens, old.cost_llm, old.cost_stt, old.cost_tts,
        old.platform_cost)
      is distinct from
      (new.workspace_id, new.created_at, new.agent_id, new.call_type, new.disposition, new.answered_at is null,
        new.duration_ms, new.llm_input_tokens, new.llm_output_tokens, new.cost_llm, new.cost_stt, new.cost_tts,
        new.platform_cost))
  execute function mark_call_hours();
create trigger calls_deleted after delete on calls referencing old table as gone
  for each statement execute function mark_hours_of_deleted_calls();
`

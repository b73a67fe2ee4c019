/**
 * Campaigns. A prospect's `window_group` names the set of zones and states whose hours must all be open, so that who may be
 * called now is decided for a few hundred groups and not for a million rows; `prospects_due` is the index a tick picks by.
 * `prospect_counts` is kept by triggers: a status counts nothing.
 *
 * Attempts keep the number when prospect and campaign are deleted: how often and when a number was called binds all
 * campaigns of a workspace. Prospects refer to no other table by a foreign key, because a million of them are loaded at once
 * and removed in pieces.
 */
export const sql = `
create table campaigns (
  id uuid primary key,
  workspace_id uuid not null references workspaces (id) on delete cascade,
  slug text not null,
  name text not null,
  agent_id uuid references agents (id) on delete set null,
  email text,
  locale_name text not null,
  active boolean not null,
  call_ratio double precision not null,
  dialer_interval integer not null,
  max_active_calls integer not null,
  max_number_calls integer not null,
  min_time_between_calls integer not null,
  dupe_days integer not null,
  expire_days integer not null,
  earliest_prospect_time text not null,
  latest_prospect_time text not null,
  ignore_states text not null,
  filter_holidays boolean not null,
  max_wait_time integer not null,
  queue_strategy text not null,
  wrap_up_time integer not null,
  paused boolean not null,
  pause_reason text,
  from_numbers jsonb not null,
  max_calls_per_number_per_day integer not null,
  retry jsonb not null,
  voicemail_resolves boolean not null,
  consent_required boolean not null,
  holidays jsonb not null,
  calling_days jsonb not null,
  budget double precision,
  stop_when jsonb,
  webhook_before_dial text,
  agent_tools jsonb not null,
  version integer not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz
);
create unique index campaigns_slug on campaigns (workspace_id, slug) where deleted_at is null;
create index campaigns_workspace on campaigns (workspace_id, created_at desc, id desc) where deleted_at is null;

-- What the dialer writes; apart from the campaign, whose row an update and a dial lock against each other.
create table campaign_runs (
  campaign_id uuid primary key references campaigns (id) on delete cascade,
  workspace_id uuid not null,
  next_tick_at timestamptz not null,
  -- The circuit breaker looks at attempts after this.
  resumed_at timestamptz not null,
  last_tick jsonb
);
create index campaign_runs_due on campaign_runs (next_tick_at);

create table campaign_days (
  campaign_id uuid not null references campaigns (id) on delete cascade,
  workspace_id uuid not null,
  day date not null,
  attempts integer not null default 0,
  answered integer not null default 0,
  humans integer not null default 0,
  machines integer not null default 0,
  abandoned integer not null default 0,
  faults integer not null default 0,
  cost double precision not null default 0,
  primary key (campaign_id, day)
);

create table prospect_lists (
  id uuid primary key,
  workspace_id uuid not null references workspaces (id) on delete cascade,
  campaign_id uuid not null,
  slug text not null,
  name text not null,
  active boolean not null default true,
  created_at timestamptz not null,
  deleted_at timestamptz
);
create unique index prospect_lists_slug on prospect_lists (workspace_id, slug) where deleted_at is null;
create index prospect_lists_campaign on prospect_lists (campaign_id);

create table prospect_uploads (
  id uuid primary key,
  workspace_id uuid not null references workspaces (id) on delete cascade,
  campaign_id uuid not null,
  list_id uuid not null,
  filename text not null,
  dedupe boolean not null,
  columns jsonb not null,
  status text not null check (status in ('loading', 'completed', 'failed')),
  total integer not null default 0,
  loaded integer not null default 0,
  duplicates integer not null default 0,
  invalid integer not null default 0,
  do_not_call integer not null default 0,
  batches_total integer not null default 0,
  -- The place in the file: every batch before it is loaded.
  batches_done integer not null default 0,
  error text,
  created_at timestamptz not null,
  finished_at timestamptz
);
create index prospect_uploads_list on prospect_uploads (list_id, created_at);
create index prospect_uploads_loading on prospect_uploads (created_at) where status = 'loading';

-- Written by COPY alone; without workspace, so reached only by way of its upload. One block is one batch.
create table prospect_upload_rows (
  upload_id uuid not null references prospect_uploads (id) on delete cascade,
  block integer not null,
  rows text not null,
  primary key (upload_id, block)
);
alter table prospect_upload_rows alter column rows set storage external;

create table prospect_rejects (
  upload_id uuid not null references prospect_uploads (id) on delete cascade,
  workspace_id uuid not null,
  line integer not null,
  reason text not null,
  cells text not null,
  primary key (upload_id, line)
);

create table window_groups (
  id integer generated by default as identity primary key,
  key text not null unique,
  zones text[] not null,
  regions text[] not null
);

create table prospects (
  id uuid primary key,
  workspace_id uuid not null,
  campaign_id uuid not null,
  list_id uuid not null,
  phone text not null,
  first_name text not null default '',
  last_name text not null default '',
  email text not null default '',
  state text not null default '',
  postal_code text not null default '',
  timezone text not null default '',
  external_id text not null default '',
  variables jsonb not null default '{}',
  consent_at timestamptz,
  window_group integer not null,
  status text not null default 'waiting' check (status in ('waiting', 'calling', 'resolved')),
  resolution text,
  disposition text,
  attempts integer not null default 0,
  attempt_seq integer not null default 0,
  faults_in_row integer not null default 0,
  parts_tried text[] not null default '{}',
  from_number text,
  last_attempt_at timestamptz,
  -- Null: as soon as it may be called.
  next_attempt_at timestamptz,
  call_back_at timestamptz,
  -- Why it was held the last time it was looked at: a reason and a sentence.
  held_reason text,
  held_sentence text,
  expires_at timestamptz,
  created_at timestamptz not null
) with (fillfactor = 85);
create index prospects_due on prospects (campaign_id, window_group, next_attempt_at) where status = 'waiting';
create index prospects_number on prospects (workspace_id, phone);
create index prospects_campaign on prospects (campaign_id, id);
create index prospects_expiring on prospects (expires_at) where status = 'waiting';

create table prospect_counts (
  campaign_id uuid not null,
  workspace_id uuid not null,
  list_id uuid not null,
  window_group integer not null,
  bucket text not null,
  n integer not null,
  primary key (campaign_id, list_id, window_group, bucket)
);

create function prospect_bucket(status text, resolution text, next_attempt_at timestamptz, consent_at timestamptz)
returns text language sql immutable as $$
  select case status
    when 'resolved' then coalesce(resolution, 'canceled')
    when 'calling' then 'calling'
    else case when next_attempt_at is null then 'fresh' else 'retry' end
      || case when consent_at is null then '_unasked' else '' end
  end
$$;

-- Sums are added in key order: two statements that touch the same ones cannot deadlock.
create function prospect_counts_add() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into prospect_counts as c
    select campaign_id, workspace_id, list_id, window_group,
      prospect_bucket(status, resolution, next_attempt_at, consent_at), count(*)
    from new_rows group by 1, 2, 3, 4, 5 order by 1, 3, 4, 5
    on conflict (campaign_id, list_id, window_group, bucket) do update set n = c.n + excluded.n;
  elsif tg_op = 'UPDATE' then
    insert into prospect_counts as c
    select campaign_id, workspace_id, list_id, window_group, bucket, sum(sign) from (
      select campaign_id, workspace_id, list_id, window_group,
        prospect_bucket(status, resolution, next_attempt_at, consent_at) as bucket, 1 as sign from new_rows
      union all
      select campaign_id, workspace_id, list_id, window_group,
        prospect_bucket(status, resolution, next_attempt_at, consent_at), -1 from old_rows
    ) as changed group by 1, 2, 3, 4, 5 having sum(sign) <> 0 order by 1, 3, 4, 5
    on conflict (campaign_id, list_id, window_group, bucket) do update set n = c.n + excluded.n;
  else
    insert into prospect_counts as c
    select campaign_id, workspace_id, list_id, window_group,
      prospect_bucket(status, resolution, next_attempt_at, consent_at), -count(*)
    from old_rows group by 1, 2, 3, 4, 5 order by 1, 3, 4, 5
    on conflict (campaign_id, list_id, window_group, bucket) do update set n = c.n + excluded.n;
  end if;
  return null;
end $$;

create trigger prospects_inserted after insert on prospects referencing new table as new_rows
  for each statement execute function prospect_counts_add();
create trigger prospects_updated after update on prospects referencing old table as old_rows new table as new_rows
  for each statement execute function prospect_counts_add();
create trigger prospects_deleted after delete on prospects referencing old table as old_rows
  for each statement execute function prospect_counts_add();

create table prospect_attempts (
  id uuid primary key,
  workspace_id uuid not null references workspaces (id) on delete cascade,
  campaign_id uuid,
  prospect_id uuid,
  n integer not null,
  phone text not null,
  from_number text not null,
  call_id uuid not null unique,
  created_at timestamptz not null,
  ended_at timestamptz,
  outcome text,
  -- Counts among the attempts of prospect and number; open ones do until they prove otherwise.
  charged boolean not null default true,
  -- A skipped attempt's reason, in a word and a sentence.
  skipped_for text,
  skipped_sentence text,
  answered_by text,
  cost double precision,
  checks jsonb not null
);
create unique index prospect_attempts_nth on prospect_attempts (prospect_id, n);
create unique index prospect_attempts_open on prospect_attempts (prospect_id) where ended_at is null;
create unique index prospect_attempts_open_number on prospect_attempts (workspace_id, phone) where ended_at is null;
create index prospect_attempts_number on prospect_attempts (workspace_id, phone, created_at);
create index prospect_attempts_from on prospect_attempts (workspace_id, from_number, created_at);
create index prospect_attempts_campaign on prospect_attempts (campaign_id, ended_at);

create table do_not_call (
  workspace_id uuid not null references workspaces (id) on delete cascade,
  phone text not null,
  reason text not null default '',
  source text not null check (source in ('api', 'upload', 'call')),
  -- The evidence of one who asked in a call.
  call_id uuid,
  words text,
  created_at timestamptz not null,
  primary key (workspace_id, phone)
);
create index do_not_call_newest on do_not_call (workspace_id, created_at desc, phone);

create index calls_campaign on calls (workspace_id, campaign_slug, created_at desc) where campaign_slug is not null;
`

/**
 * Batches. The rows of an uploaded file lie in blocks of a few dozen, one tuple each (store/batches/batch-rows.ts): a million
 * rows cost the primary key thirty thousand entries, and loading them stays as fast as a plain COPY. A row gets a tuple of
 * its own, in batch_items, when the runner takes it; that insert is what keeps anyone from being called twice.
 */
export const sql = `
create table batches (
  id uuid primary key,
  workspace_id uuid not null references workspaces (id) on delete cascade,
  name text not null,
  agent_id uuid references agents (id) on delete set null,
  agent_phone_number text not null,
  status text not null check (status in ('pending', 'scheduled', 'running', 'completed', 'canceled')),
  scheduled_time timestamptz,
  timezone text not null,
  columns jsonb not null,
  total integer not null default 0,
  invalid integer not null default 0,
  duplicates integer not null default 0,
  taken integer not null default 0,
  completed integer not null default 0,
  failed integer not null default 0,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  finished_at timestamptz
);
create index batches_workspace on batches (workspace_id, created_at desc, id desc);
create index batches_due on batches (scheduled_time) where status in ('scheduled', 'running');

create table batch_rows (
  batch_id uuid not null references batches (id) on delete cascade,
  block integer not null,
  rows text not null,
  primary key (batch_id, block)
);

create table batch_items (
  batch_id uuid not null references batches (id) on delete cascade,
  workspace_id uuid not null,
  seq integer not null,
  call_id uuid not null unique,
  status text not null check (status in ('in_progress', 'completed', 'failed')),
  error text,
  primary key (batch_id, seq)
);
create index batch_items_open on batch_items (batch_id) where status = 'in_progress';

-- Set before the carrier is asked: a call that has it is never dialled again.
alter table calls add column placed_at timestamptz;
create index calls_to_place on calls (created_at)
  where direction = 'outbound' and status = 'queued' and placed_at is null;
create index calls_batch on calls (batch_id) where batch_id is not null;
`

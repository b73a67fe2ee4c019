/**
 * What records say of each other and of the systems of others: metadata, external ids, a call's prospect and a prospect's last call; and
 * when they changed. While a call runs, its status alone moves `updated_at`: the sums that are written each second stay cheap.
 */
export const sql = `
alter table calls
  add column external_id text,
  add column metadata jsonb not null default '{}' check (jsonb_typeof(metadata) = 'object'),
  add column prospect_id uuid,
  add column updated_at timestamptz not null default now();
alter table prospects
  add column metadata jsonb not null default '{}' check (jsonb_typeof(metadata) = 'object'),
  add column last_call_id uuid,
  add column updated_at timestamptz not null default now();
alter table batches add column updated_at timestamptz not null default now();

-- Answers kept by Idempotency-Key of requests that are of a user and no workspace.
create table user_idempotency_keys (
  user_id uuid not null references users (id) on delete cascade,
  key text not null,
  request_hash bytea not null,
  answer text,
  created_at timestamptz not null default now(),
  primary key (user_id, key)
);
create index user_idempotency_keys_created on user_idempotency_keys (created_at);

create function touch_updated_at() returns trigger language plpgsql as $$
begin
  new.updated_at := clock_timestamp();
  return new;
end $$;
create trigger calls_touched before update on calls for each row
  when (old.ended_at is not null or old.status <> new.status) execute function touch_updated_at();
create trigger prospects_touched before update on prospects for each row execute function touch_updated_at();
create trigger batches_touched before update on batches for each row execute function touch_updated_at();
`
